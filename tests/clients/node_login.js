// Logs in by node-postgres and postgres.js, and prints a line for each: user and whether TLS is on, or the SQLSTATE.
// Arguments: port, user, password, file of the certificate authority or "".
const fs = require("fs");
const pg = require("pg");
const postgres = require("postgres");

const [port, user, password, authority] = process.argv.slice(2);
const ssl = authority ? { ca: fs.readFileSync(authority, "utf8"), servername: "localhost" } : false;
const options = { host: "127.0.0.1", port: Number(port), user, password, database: "postgres", ssl };
const query = "SELECT current_user AS name, ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

async function byNodePostgres() {
  const client = new pg.Client(options);
  await client.connect();
  const found = (await client.query(query)).rows[0];
  await client.end();
  return found;
}

async function byPostgresJs() {
  const sql = postgres({ ...options, max: 1, onnotice: () => {} });
  try {
    return (await sql.unsafe(query))[0];
  } finally {
    await sql.end();
  }
}

async function main() {
  for (const login of [byNodePostgres, byPostgresJs]) {
    try {
      const { name, ssl } = await login();
      console.log(`${name} ${ssl}`);
    } catch (error) {
      console.log(error.code);
    }
  }
}

main();
