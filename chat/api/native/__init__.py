"""The site's own API, under /api/v1/: everything that people do on its pages."""
