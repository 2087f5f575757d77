import { Card } from "../../control/card.js";
import { Copy } from "../../control/copy.js";
import { Code } from "../../control/pill.js";
import styles from "./first-run.module.css";

const STEPS = [
  { text: "Install flytekit", command: "pip install flytekit" },
  { text: "Make an example", command: "pyflyte init my_project && cd my_project" },
  { text: "Run it here", command: "pyflyte run --remote workflows/example.py wf" },
] as const;

/** Commands that fill an empty project. */
export function FirstRun() {
  return (
    <Card title="Nothing has run here yet" note="three commands">
      <ol>
        {STEPS.map(({ text, command }) => (
          <li key={command} className={styles.step}>
            <span>{text}</span>
            <Code>{command}</Code>
            <Copy text={command} label="the command" />
          </li>
        ))}
      </ol>
    </Card>
  );
}
