// got: its pagination API follows the Link header, its retries follow Retry-After.
import got from 'got'

const env = process.env
const retry = { limit: 5, methods: ['GET', 'POST'], statusCodes: [429, 500, 502, 503, 504] }
let token

async function login() {
  const answer = await got.post(env.RIN_TOKEN_URL, {
    retry,
    form: { grant_type: 'client_credentials', client_id: env.RIN_CLIENT_ID, client_secret: env.RIN_CLIENT_SECRET },
  }).json()
  token = answer.access_token
}

const api = got.extend({
  retry,
  followRedirect: false, // the hook below would give the token to any host
  timeout: { request: 20000 },
  responseType: 'json',
  hooks: {
    beforeRequest: [(options) => { options.headers.authorization = `Bearer ${token}` }],
    afterResponse: [async (response, retryWithMergedOptions) => {
      if (response.statusCode !== 401) return response
      await login()
      return retryWithMergedOptions({ headers: { authorization: `Bearer ${token}` } })
    }],
  },
})

await login()
let count = 0
for await (const funding of api.paginate(env.RIN_FUNDINGS_URL, {
  searchParams: { 'page[page]': 0, 'page[size]': 50 },
})) {
  if (funding.id) count++
}
console.log(count)
