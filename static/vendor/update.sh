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
