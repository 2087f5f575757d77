import type { PhaseKind, PhaseLook } from "../format/phase.js";
import styles from "./phase-mark.module.css";

/** Shapes in a square of 14: a phase is known by its shape without its colour. */
const SHAPES: Readonly<Record<PhaseKind, React.ReactNode>> = {
  ok: (
    <>
      <circle cx="7" cy="7" r="6.200" className={styles.fill} />
      <path d="m4.200 7.200 2 2 3.700-4.100" className={styles.cut} />
    </>
  ),
  bad: (
    <>
      <circle cx="7" cy="7" r="6.200" className={styles.fill} />
      <path d="m4.800 4.800 4.400 4.400M9.200 4.800 4.800 9.200" className={styles.cut} />
    </>
  ),
  run: (
    <>
      <circle cx="7" cy="7" r="5.200" className={styles.track} />
      <path d="M7 1.800A5.200 5.200 0 0 1 12.200 7" className={styles.arc} />
    </>
  ),
  wait: <circle cx="7" cy="7" r="5.400" className={styles.dashes} />,
  stop: (
    <>
      <circle cx="7" cy="7" r="6.200" className={styles.fill} />
      <rect x="4.700" y="4.700" width="4.600" height="4.600" rx="0.500" className={styles.hole} />
    </>
  ),
  ask: (
    <>
      <path d="M7 .7 13.300 7 7 13.300.7 7z" className={styles.fill} />
      <path d="M5.700 4.900v4.200M8.300 4.900v4.200" className={styles.cut} />
    </>
  ),
  hit: (
    <>
      <circle cx="7" cy="7" r="5.600" className={styles.ring} />
      <path d="m4.300 7.200 1.900 1.900 3.500-3.900" className={styles.ring} />
    </>
  ),
};

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
        {SHAPES[kind]}
      </svg>
      {!bare && text}
    </span>
  );
}
