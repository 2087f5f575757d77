import type { PhaseLook } from "../format/phase.js";
import styles from "./phase-mark.module.css";
import { PHASE_SHAPES } from "./phase-shapes.js";

interface PhaseMarkProps {
  readonly look: PhaseLook;
  /** Text instead of the phase's word. */
  readonly text?: string;
  /** Leaves the text to assistive technology. */
  readonly bare?: boolean;
}

/** Phase as a shape, a colour and a word. */
export function PhaseMark({ look: { kind, word }, text = word, bare = false }: PhaseMarkProps) {
  return (
    <span className={styles.phase} data-phase={kind}>
      <svg
        viewBox="0 0 14 14"
        className={styles.mark}
        role={bare ? "img" : undefined}
        aria-label={bare ? text : undefined}
        aria-hidden={!bare}
      >
        {PHASE_SHAPES[kind].map(({ tag: Tag, attributes, part }, index) => (
          <Tag key={index} {...attributes} className={styles[part]} />
        ))}
      </svg>
      {!bare && text}
    </span>
  );
}
