import type { Scope } from "../../api/scope.js";
import { Card } from "../../control/card.js";
import { Copy } from "../../control/copy.js";
import { Code } from "../../control/pill.js";
import { quote } from "../../command/shell.js";
import styles from "./first-run.module.css";

/** Commands that fill an empty project. */
export function FirstRun({ scope }: { readonly scope: Scope }) {
  return (
    <Card title="Nothing has run here yet" note="three commands">
      <ol>
        {stepsOf(scope).map(({ text, command }) => (
          <li key={command} className={styles.step}>
            <span className={styles.text}>{text}</span>
            <span className={styles.command}>
              <Code>{command}</Code>
            </span>
            <Copy text={command} label="the command" />
          </li>
        ))}
      </ol>
    </Card>
  );
}

function stepsOf({ project, domain }: Scope): readonly { readonly text: string; readonly command: string }[] {
  const target = `-p ${quote(project)} -d ${quote(domain)}`;
  return [
    { text: "Install flytekit", command: "pip install flytekit" },
    { text: "Make an example", command: "pyflyte init my_project && cd my_project" },
    { text: "Run it here", command: `pyflyte run --remote ${target} workflows/example.py wf` },
  ];
}
