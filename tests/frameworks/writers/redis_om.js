// What Redis OM for node writes of entities kept as hashes. Its search indexes need a module and are not made.
const { createClient } = require('redis')
const { Repository, Schema } = require('redis-om')

async function main() {
  const client = createClient({ url: `redis://127.0.0.1:${process.argv[process.argv.length - 1]}` })
  await client.connect()
  const albums = new Repository(new Schema('Album', {
    artist: { type: 'string' }, title: { type: 'text' }, year: { type: 'number' }, genres: { type: 'string[]' }, outOfPublication: { type: 'boolean' },
    released: { type: 'date' }, studio: { type: 'point' }
  }, { dataStructure: 'HASH' }), client)
  for (let n = 1; n <= 4; n++) {
    await albums.save({ artist: `artist ${n % 2}`, title: `title ${n}`, year: 1990 + n, genres: ['metal', `g${n}`], outOfPublication: n > 2,
      released: new Date(Date.UTC(1990 + n, 0, 1)), studio: { longitude: 12.5, latitude: 40.5 + n } })
  }
  const people = new Repository(new Schema('com.acme:Person', { name: { type: 'string' } }, { dataStructure: 'HASH' }), client)
  await people.save({ name: 'ann' })
  await client.quit()
}

main()
