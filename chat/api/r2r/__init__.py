"""The R2R dialect: what the `r2r` SDK asks for, answered from our runs, search and documents."""
