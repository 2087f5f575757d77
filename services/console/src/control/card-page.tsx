import type { ReactNode } from "react";
import styles from "./card-page.module.css";

interface CardPageProps {
  readonly title: string;
  /** Buttons at the end of the title's line. */
  readonly acts?: ReactNode;
  /** Tabs below the title. */
  readonly tabs?: ReactNode;
  readonly children: ReactNode;
}

/** Frame of a page that consists of cards. */
export function CardPage({ title, acts, tabs, children }: CardPageProps) {
  return (
    // Focusable, so that keys scroll a page without buttons.
    <div className={styles.page} role="region" aria-label={title} tabIndex={0}>
      <header className={styles.header}>
        <h1 className={styles.title}>{title}</h1>
        {acts}
      </header>
      {tabs}
      {children}
    </div>
  );
}

/** Sentence in a card. */
export function Note({ children }: { readonly children: ReactNode }) {
  return <p className={styles.note}>{children}</p>;
}
