// A client that reads all fundings, and its tests. HASTY=1 makes it ignore Retry-After, so that the judgement must fail the test.
import { expect, test } from 'vitest'
import { client } from './sandbox.js'

async function fetchJSON(url, options) {
  for (let attempt = 0; attempt < 5; attempt++) {
    const answer = await fetch(url, options)
    if (answer.ok) return answer.json()
    if (answer.status !== 429 && answer.status !== 503) throw new Error(`${answer.status}`)
    if (!process.env.HASTY) await new Promise(resolve => setTimeout(resolve, 1000 * Number(answer.headers.get('retry-after'))))
  }
  throw new Error('gave up')
}

async function harvest(node) {
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: node.clientId, client_secret: node.clientSecret })
  const token = await fetchJSON(node.tokenUrl, { method: 'POST', body: form })
  return fetchJSON(node.fundingsUrl, { headers: { authorization: 'Bearer ' + token.access_token } })
}

test.concurrent('reads all fundings', async ({ expect }) => {
  const node = await client()
  expect((await harvest(node)).length).toBeGreaterThan(200)
  await node.judge(expect)
})

test.concurrent('waits when the node is not available', async ({ expect }) => {
  const node = await client()
  await node.play('503-twice', { path: 'list', times: 4 })
  expect((await harvest(node)).length).toBeGreaterThan(200)
  await node.judge(expect)
})
