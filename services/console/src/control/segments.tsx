import { classes } from "./classes.js";
import styles from "./segments.module.css";

interface SegmentsProps<Choice extends string> {
  readonly label: string;
  readonly choices: readonly { readonly id: Choice; readonly title: string }[];
  readonly current: Choice | undefined;
  onChoose(choice: Choice): void;
}

/** One of a few choices, all in sight. */
export function Segments<Choice extends string>({ label, choices, current, onChoose }: SegmentsProps<Choice>) {
  return (
    <div className={styles.segments} role="group" aria-label={label}>
      {choices.map(({ id, title }) => (
        <button
          key={id}
          type="button"
          aria-pressed={id === current}
          className={classes(styles.segment, id === current && styles.current)}
          onClick={() => onChoose(id)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
