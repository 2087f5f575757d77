import { useEffect, useRef } from "react";
import styles from "./mark-bar.module.css";

interface MarkBarProps {
  /** Parts of the log with matches. */
  readonly marks: Uint8Array;
  /** Colour of a mark. */
  readonly colour: string;
}

/** Places of the matches beside the scroll bar. The count and the buttons say the same in words. */
export function MarkBar({ marks, colour }: MarkBarProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (element === null || context === null || context === undefined) return;
    [element.width, element.height] = [1, marks.length];
    context.fillStyle = colour;
    for (const [at, mark] of marks.entries()) if (mark !== 0) context.fillRect(0, at, 1, 1);
  }, [marks, colour]);
  return <canvas ref={canvas} className={styles.marks} aria-hidden="true" />;
}
