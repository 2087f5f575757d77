// Checks that the console names colours, sizes and fonts in src/theme only; elsewhere it uses the
// tokens of the theme.  node scripts/check-styles.mjs [FOLDER]   checks another folder
import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { root } from "./prepare.mjs";
import { sourceFiles } from "./source-files.mjs";

const folder = resolve(process.argv[2] ?? join(root, "services/console/src"));
const COLOUR =
  /#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color)\(|(?<![\w-])(?:white|black|red|green|blue|gr[ae]y|orange|purple|yellow|violet)(?![\w-])/i;
/** Lines and rings may be one or two pixels wide; other lengths are tokens. */
const LENGTH = /(?<![\w.-])(?!-?(?:0|1|2)px)-?\d*\.?\d+(?:px|rem|em|pt)\b/;
const FONT = /(?:font-family|font):(?!\s*(?:inherit|[^;]*var\(--font-))/;
/** Colours in code: texts of six or eight digits, and functions of colours. */
const COLOUR_IN_CODE = /["'`](?:#[0-9a-f]{3,8}|(?:rgba?|hsla?|oklch)\([^"'`]*)["'`]/i;
const FONT_IN_CODE = /["'`][^"'`]*\d+px\s+[A-Z][\w ]*["'`]|fontFamily|fontSize/;

const problems = [...sourceFiles(folder, /\.(css|tsx?)$/)].flatMap(check);
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

function check(file) {
  const place = relative(folder, file);
  if (place.startsWith("theme/") || /\.test\.tsx?$/.test(place)) return [];
  const rules = file.endsWith(".css")
    ? { "a colour": COLOUR, "a size": LENGTH, "a font": FONT }
    : { "a colour": COLOUR_IN_CODE, "a font": FONT_IN_CODE };
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line, index) => {
      // Conditions of media queries cannot refer to tokens; comments style nothing.
      if (/^\s*(@media|\/\*|\*)/.test(line)) return [];
      return Object.entries(rules)
        .filter(([, pattern]) => pattern.test(line))
        .map(([kind]) => `${place}:${index + 1} names ${kind}: use a token of theme/tokens.css`);
    });
}
