import { classes } from "../../control/classes.js";
import { VisibleText } from "../../control/visible-text.js";
import { type AnsiLook, readAnsi } from "../text/ansi.js";
import { findRanges, type LogPattern, type TextRange } from "../text/log-pattern.js";
import styles from "./line.module.css";

interface LineTextProps {
  readonly text: string;
  readonly pattern: LogPattern | undefined;
}

/** Longer lines are cut: a browser lays out each of their characters. */
const MAX_SHOWN = 20_000;

/** Text of a line with its colours and matches. */
export function LineText({ text, pattern }: LineTextProps) {
  const spans = readAnsi(text.slice(0, MAX_SHOWN));
  const ranges = pattern === undefined ? [] : findRanges(pattern, spans.map((span) => span.text).join(""));
  let at = 0;
  return (
    <>
      {spans.map(({ text: part, look }, index) => {
        const from = at;
        at += part.length;
        return (
          <span key={index} className={lookClasses(look)}>
            {splitAt(part, from, ranges).map(({ piece, isMatch }, place) =>
              isMatch ? (
                <mark key={place} className={styles.match}>
                  <VisibleText text={piece} />
                </mark>
              ) : (
                <VisibleText key={place} text={piece} />
              ),
            )}
          </span>
        );
      })}
      {text.length > MAX_SHOWN && <i className={styles.cut}> … {text.length - MAX_SHOWN} more characters: download the log</i>}
    </>
  );
}

function lookClasses({ ink, ground, bold = false }: AnsiLook): string {
  return classes(ink && styles[`ink-${ink}`], ground && styles[`on-${ground}`], bold && styles.bold);
}

/** Splits a part of a line that begins at `from` into its matches and the text between them. */
function splitAt(
  part: string,
  from: number,
  ranges: readonly TextRange[],
): readonly { readonly piece: string; readonly isMatch: boolean }[] {
  const pieces: { piece: string; isMatch: boolean }[] = [];
  let at = 0;
  for (const range of ranges) {
    const [start, end] = [Math.max(range.from - from, at), Math.min(range.to - from, part.length)];
    if (end <= start) continue;
    if (start > at) pieces.push({ piece: part.slice(at, start), isMatch: false });
    pieces.push({ piece: part.slice(start, end), isMatch: true });
    at = end;
  }
  if (at < part.length) pieces.push({ piece: part.slice(at), isMatch: false });
  return pieces;
}
