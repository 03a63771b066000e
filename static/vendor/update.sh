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

# highlight.js with its common languages in one module; the package brings no types.
mkdir -p static/vendor/highlight
cp node_modules/@highlightjs/cdn-assets/es/highlight.min.js static/vendor/highlight/highlight.js
cp node_modules/@highlightjs/cdn-assets/LICENSE static/vendor/highlight/
cat >static/vendor/highlight/highlight.d.ts <<'TYPES'
declare const highlight: {
  getLanguage(name: string): { name?: string } | undefined;
  highlight(code: string, options: { language: string; ignoreIllegals?: boolean }): { value: string };
};
export default highlight;
TYPES

# KaTeX: the minified build is no module, so it is made one. Only its MathML is used: no fonts, no
# style sheet.
mkdir -p static/vendor/katex
{
  echo 'const module = { exports: {} }, exports = module.exports;'
  sed '/^\/\/# sourceMappingURL=/d' node_modules/katex/dist/katex.min.js
  echo
  echo 'export default module.exports;'
} >static/vendor/katex/katex.js
cp node_modules/katex/types/katex.d.ts node_modules/katex/LICENSE static/vendor/katex/

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

# Swagger UI, which the page of the API loads: a script, no module.
ui=static/vendor/swagger-ui-dist
mkdir -p "$ui"
sed '/^\/\/# sourceMappingURL=/d' node_modules/swagger-ui-dist/swagger-ui-bundle.js >"$ui/swagger-ui.js"
# Without the pictures in its style sheet, arrows of lists mostly, which the site's policy refuses.
sed -E '/^\/\*# sourceMappingURL=/d; s/url\("data:[^"\\]*(\\.[^"\\]*)*"\)/none/g; s/url\(data:[^)]*\)/none/g' \
  node_modules/swagger-ui-dist/swagger-ui.css >"$ui/swagger-ui.css"
cp node_modules/swagger-ui-dist/LICENSE node_modules/swagger-ui-dist/NOTICE "$ui/"
cp node_modules/swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt "$ui/LICENSE-BUNDLED"
