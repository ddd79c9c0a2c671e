// DuckDB with one thread: reads lines {"sql", "rounds"} as JSON, writes for each the rows of the last round as texts, and the
// seconds of each by the clock and of processor time.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { DuckDBInstance } = await import(pathToFileURL(process.argv[2]).href);
const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
for await (const line of createInterface({ input: process.stdin })) {
  const { sql, rounds } = JSON.parse(line);
  const seconds = [], processor_seconds = [];
  let rows = [];
  for (let round = 0; round < rounds; ++round) {
    const used = process.cpuUsage(), begun = performance.now();
    const result = await connection.runAndReadAll(sql);
    seconds.push((performance.now() - begun) / 1000);
    const { user, system } = process.cpuUsage(used);
    processor_seconds.push((user + system) / 1e6);
    rows = result.getRowsJson();
  }
  console.log(JSON.stringify({ rows: rows.map((row) => row.map((value) => (value === null ? null : String(value)))), seconds, processor_seconds }));
}
