import { Button, IconButton } from "../../control/button.js";
import inputStyles from "../../literal/form/input.module.css";
import styles from "./launch-page.module.css";
import type { Pair } from "./settings.js";

interface PairListProps {
  readonly label: string;
  readonly pairs: readonly Pair[];
  onChange(pairs: readonly Pair[]): void;
}

/** Keys with texts, such as labels. */
export function PairList({ label, pairs, onChange }: PairListProps) {
  const input = (index: number, part: keyof Pair, pair: Pair) => (
    <input
      aria-label={`${label}: ${part} ${index}`}
      className={inputStyles.input}
      placeholder={part}
      spellCheck={false}
      value={pair[part]}
      onChange={({ target }) => onChange(pairs.with(index, { ...pair, [part]: target.value }))}
    />
  );
  return (
    <div role="group" aria-label={label}>
      {pairs.map((pair, index) => (
        <div key={index} className={styles.pair}>
          {input(index, "key", pair)}
          {input(index, "value", pair)}
          <IconButton icon="close" label={`Remove ${label} ${pair.key}`} onClick={() => onChange(pairs.toSpliced(index, 1))} />
        </div>
      ))}
      <Button small icon="plus" onClick={() => onChange([...pairs, { key: "", value: "" }])}>
        Add
      </Button>
    </div>
  );
}
