import { expect, test } from "vitest";
import { readReport } from "./probe-report.js";

const DIFFERING = `DIFF infra/15-garbage [/flyteidl.service.AdminService/GetTask]
    code: INVALID_ARGUMENT want INTERNAL (message: 'x')
    … 1 more
DIFF list/02 [GET /api/v1/projects]
    response.projects: 1 items, want 2
`;

test("differing cases are parsed with their differences and the total", () => {
  expect(
    readReport(`${DIFFERING}\ninfra: 26/27\nlist: 1/2\nTOTAL 29 cases, 2 differ, 27 agree, 3 with loosely different messages\n`),
  ).toEqual({
    total: 29,
    differing: [
      {
        id: "infra/15-garbage",
        lines: ["[/flyteidl.service.AdminService/GetTask]", "code: INVALID_ARGUMENT want INTERNAL (message: 'x')", "… 1 more"],
      },
      { id: "list/02", lines: ["[GET /api/v1/projects]", "response.projects: 1 items, want 2"] },
    ],
  });
});

test("an incomplete report, or one with a wrong count, has no total", () => {
  expect(readReport(DIFFERING).total).toBeUndefined();
  expect(readReport(`${DIFFERING}\nTOTAL 29 cases, 3 differ, 26 agree, 0 with loosely different messages\n`).total).toBeUndefined();
});
