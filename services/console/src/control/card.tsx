import type { ReactNode } from "react";
import styles from "./card.module.css";

interface CardProps {
  readonly title: ReactNode;
  readonly note?: ReactNode;
  readonly children: ReactNode;
}

/** Section of a page with a title. */
export function Card({ title, note, children }: CardProps) {
  return (
    <section className={styles.card}>
      <header className={styles.header}>
        <h2 className={styles.title}>{title}</h2>
        {note !== undefined && note !== "" && <span className={styles.note}>{note}</span>}
      </header>
      {children}
    </section>
  );
}
