// Checks that every setting has a description. Needs the output of `npm run build`.
//
//   node scripts/check-settings.mjs                settings of all services
//   node scripts/check-settings.mjs PROGRAM...     settings of these programs
import { programsWithSettings, settingsSchema } from "./reference/programs.mjs";
import { settingsWithoutDescription } from "./reference/settings-page.mjs";

const given = process.argv.slice(2);
const programs = given.length > 0 ? given : (await programsWithSettings()).map(({ program }) => program);
const problems = await Promise.all(
  programs.map(async (program) =>
    settingsWithoutDescription(await settingsSchema(program)).map(
      (path) => `${program}: the setting ${path} has no description: add a documentation comment to its property`,
    ),
  ),
);
for (const problem of problems.flat()) console.error(problem);
process.exitCode = problems.flat().length > 0 ? 1 : 0;
