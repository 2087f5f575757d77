import { useQuery } from "@tanstack/react-query";
import { useApp } from "../../app/app.js";
import { Card } from "../../control/card.js";
import { CardPage, Note } from "../../control/card-page.js";
import { ErrorPanel } from "../../control/error-panel.js";
import { Code } from "../../control/pill.js";
import { type PlainColumn, PlainTable } from "../../control/plain-table.js";
import { usePageTitle } from "../../frame/use-page-title.js";
import { LIBRARIES, type Library } from "./libraries.js";

const MINUTE_MS = 60_000;

/** Version of the server, and licences of what the console consists of. */
export function AboutPage() {
  const { api } = useApp();
  const { data, error, refetch } = useQuery({
    queryKey: ["version"],
    queryFn: ({ signal }) => api.platform.getVersion(signal),
    staleTime: MINUTE_MS,
  });
  const { Version: version = "", Build: build = "", BuildTime: time = "" } = data?.controlPlaneVersion ?? {};
  usePageTitle("About");
  return (
    <CardPage title="About">
      <Card title="Server">
        {error !== null && data === undefined && (
          <ErrorPanel title="The version cannot be read" error={error} onRetry={() => void refetch()} />
        )}
        {data !== undefined && (
          <PlainTable
            label="Version of the server"
            columns={FACT_COLUMNS}
            rows={[
              { name: "Server", value: build },
              { name: "Version of the Flyte API", value: version },
              { name: "Started", value: time },
            ].filter(({ value }) => value !== "")}
            rowId={({ name }) => name}
          />
        )}
      </Card>
      <Card title="Licences">
        <Note>flyte-ts is licensed under the Apache License 2.0. The console contains these libraries and fonts:</Note>
        <PlainTable label="Licences" columns={LIBRARY_COLUMNS} rows={LIBRARIES} rowId={({ name }) => name} />
      </Card>
    </CardPage>
  );
}

interface Fact {
  readonly name: string;
  readonly value: string;
}

const FACT_COLUMNS: readonly PlainColumn<Fact>[] = [
  { title: "Fact", cell: ({ name }) => name },
  { title: "Value", cell: ({ value }) => <Code>{value}</Code> },
];

const LIBRARY_COLUMNS: readonly PlainColumn<Library>[] = [
  { title: "Library", cell: ({ name }) => <Code>{name}</Code> },
  { title: "Licence", cell: ({ licence }) => licence },
];
