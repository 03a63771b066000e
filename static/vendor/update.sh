#!/bin/sh
# Copy the browser libraries that package.json pins into this folder, with their licences.
# Run as `npm run vendor`. Source map comments go: the maps are not shipped.
set -eu
cd "$(dirname "$0")/../.."
npm install --no-audit --no-fund --silent

# vendor NAME MODULE TYPES LICENCE
vendor() {
  folder="static/vendor/$1"
  mkdir -p "$folder"
  sed '/^\/\/# sourceMappingURL=/d' "node_modules/$1/$2" >"$folder/$1.js"
  cp "node_modules/$1/$3" "$folder/$1.d.ts"
  cp "node_modules/$1/$4" "$folder/LICENSE"
}

vendor marked lib/marked.esm.js lib/marked.d.ts LICENSE
vendor dompurify dist/purify.es.mjs dist/purify.es.d.mts LICENSE

# pdf.js: the build for older browsers, too. WebAssembly is left out, which the site's policy does
# not allow; its modules keep their names, as they import each other by them.
pdf=static/vendor/pdfjs-dist
from=node_modules/pdfjs-dist
mkdir -p "$pdf/wasm"
for module in pdf pdf.worker; do
  sed '/^\/\/# sourceMappingURL=/d' "$from/legacy/build/$module.min.mjs" >"$pdf/$module.mjs"
done
cp "$from/LICENSE" "$pdf/"
cp -R "$from/cmaps" "$from/standard_fonts" "$pdf/"
for codec in JBIG2 OPENJPEG; do
  cp "$from/wasm/$(echo $codec | tr A-Z a-z)_nowasm_fallback.js" "$pdf/wasm/"
  cp "$from/wasm/LICENSE_$codec" "$from/wasm/LICENSE_PDFJS_$codec" "$pdf/wasm/"
done
