import type { ExecutionKey } from "../../../api/scope.js";
import { Icon } from "../../../control/icon.js";
import styles from "./deck.module.css";

interface DeckProps {
  readonly executionKey: ExecutionKey;
  readonly node: string;
}

/** Page that the task of a node wrote. Its scripts run without the console's origin. */
export function Deck({ executionKey: { project, domain, name }, node }: DeckProps) {
  const address = `/console/deck/${[project, domain, name, node].map(encodeURIComponent).join("/")}`;
  return (
    <section className={styles.deck} aria-label="Deck">
      <a href={address} target="_blank" rel="noopener noreferrer" className={styles.link}>
        Open in a tab <Icon name="external" small />
      </a>
      <iframe src={address} title={`Deck of ${node}`} sandbox="allow-scripts" referrerPolicy="no-referrer" className={styles.frame} />
    </section>
  );
}
