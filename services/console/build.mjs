// Builds the console into bundle/: files with hashed names, each also compressed as .br and .gz.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build } from "vite";

/** Formats that are compressed already. */
const COMPRESSED = /\.(woff2|png|br|gz)$/;
/** Shorter answers fit into one packet. */
const MIN_BYTES = 1024;

await build({ root: import.meta.dirname, logLevel: "warn" });
const folder = join(import.meta.dirname, "bundle");
const names = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !COMPRESSED.test(entry.name))
  .map(({ parentPath, name }) => join(parentPath, name));
await Promise.all(names.map(compress));

async function compress(file) {
  const bytes = readFileSync(file);
  if (bytes.length < MIN_BYTES) return;
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(`${file}.br`, await promisify(brotliCompress)(bytes, { params }));
  writeFileSync(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 }));
}
