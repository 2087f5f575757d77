import type { ReactNode } from "react";
import styles from "./split.module.css";

interface SplitProps {
  /** List at the left, which is narrow. */
  readonly side: ReactNode;
  readonly children: ReactNode;
}

/** Narrow list beside its content; one below the other on a phone. */
export function Split({ side, children }: SplitProps) {
  return (
    <div className={styles.split}>
      <div className={styles.side}>{side}</div>
      <div className={styles.content}>{children}</div>
    </div>
  );
}
