/** The eight colours of terminals; bright ones are the same. */
export const ANSI_COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
export type AnsiColour = (typeof ANSI_COLOURS)[number];

/** Look of a text. */
export interface AnsiLook {
  readonly ink?: AnsiColour | undefined;
  readonly ground?: AnsiColour | undefined;
  readonly bold?: boolean;
}

/** Part of a line with one look. */
export interface AnsiSpan {
  readonly text: string;
  readonly look: AnsiLook;
}

const ESCAPE = "\u001b";
/** Control sequences, strings such as titles and links, and short escapes. */
const SEQUENCE = new RegExp(
  String.raw`${ESCAPE}(?:\[([0-?]*)([ -/]*[@-~])?|[\]PX^_][^\u0007\u001b\n]*(?:\u0007|${ESCAPE}\\)?|[ -/]*[0-~]?)`,
  "g",
);
/** Characters that neither are visible nor separate words or lines. */
const CONTROLS = /[^\P{Cc}\t\n\r]/gu;
const NO_LOOK: AnsiLook = {};

/** Removes the escape sequences of a text and keeps its line ends. */
export function stripEscapes(text: string): string {
  return text.replace(SEQUENCE, "");
}

/**
 * Reads a line as a terminal shows it: colours and bold become looks, other sequences are left out,
 * and a carriage return begins the line anew, as progress bars do.
 */
export function readAnsi(line: string): readonly AnsiSpan[] {
  let [spans, look, at]: [AnsiSpan[], AnsiLook, number] = [[], NO_LOOK, 0];
  const add = (text: string): void => {
    const returned = text.lastIndexOf("\r");
    if (returned !== -1) spans = [];
    const visible = text.slice(returned + 1).replace(CONTROLS, "");
    if (visible !== "") spans.push({ text: visible, look });
  };
  for (const match of line.matchAll(SEQUENCE)) {
    add(line.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === "m") look = applyCodes(look, match[1] ?? "");
  }
  add(line.slice(at));
  return spans;
}

/** Applies the codes of a sequence that selects looks. */
function applyCodes(before: AnsiLook, parameters: string): AnsiLook {
  const codes = parameters.split(/[;:]/).map(Number);
  let look = before;
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] as number;
    if (code === 38 || code === 48) {
      const isIndexed = codes[at + 1] === 5;
      const colour = isIndexed ? colourOf(codes[at + 2]) : undefined;
      look = code === 38 ? { ...look, ink: colour } : { ...look, ground: colour };
      at += isIndexed ? 2 : 4;
    } else look = applyCode(look, code);
  }
  return look;
}

function applyCode(look: AnsiLook, code: number): AnsiLook {
  if (code === 0) return NO_LOOK;
  if (code === 1) return { ...look, bold: true };
  if (code === 22) return { ...look, bold: false };
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) return { ...look, ink: ANSI_COLOURS[code % 10] };
  if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) return { ...look, ground: ANSI_COLOURS[code % 10] };
  if (code === 39) return { ...look, ink: undefined };
  return code === 49 ? { ...look, ground: undefined } : look;
}

/** Colour of an index: the first sixteen are the named ones. */
function colourOf(index: number | undefined): AnsiColour | undefined {
  return index !== undefined && index < 16 ? ANSI_COLOURS[index % 8] : undefined;
}
