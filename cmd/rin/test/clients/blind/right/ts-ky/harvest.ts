// TypeScript with ky and p-retry, run by tsx.
import ky, { HTTPError, type KyInstance } from 'ky'

interface Funding { id: string; type: string }
const env = process.env as Record<string, string>

class Session {
  private token?: Promise<string>
  readonly api: KyInstance

  constructor() {
    this.api = ky.create({
      timeout: 20_000,
      retry: { limit: 5, statusCodes: [429, 500, 502, 503, 504], afterStatusCodes: [429, 503] },
      hooks: {
        beforeRequest: [async (request) => {
          request.headers.set('Authorization', `Bearer ${await this.bearer()}`)
        }],
        afterResponse: [async (request, _options, response) => {
          if (response.status !== 401) return response
          this.token = undefined
          const again = new Request(request)
          again.headers.set('Authorization', `Bearer ${await this.bearer()}`)
          return ky(again)
        }],
      },
    })
  }

  private bearer(): Promise<string> {
    this.token ??= ky.post(env.RIN_TOKEN_URL, {
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: env.RIN_CLIENT_ID,
        client_secret: env.RIN_CLIENT_SECRET,
      }),
      retry: { limit: 5, methods: ['post'], statusCodes: [429, 500, 502, 503, 504] },
    }).json<{ access_token: string }>().then((answer) => answer.access_token)
    return this.token
  }
}

function next(response: Response): string | undefined {
  const match = /<([^>]+)>\s*;\s*rel="next"/.exec(response.headers.get('Link') ?? '')
  return match ? new URL(match[1], response.url).href : undefined
}

async function main(): Promise<void> {
  const session = new Session()
  const fundings: Funding[] = []
  let url: string | undefined = `${env.RIN_FUNDINGS_URL}?page%5Bpage%5D=0&page%5Bsize%5D=100`
  while (url) {
    const response: Response = await session.api.get(url)
    fundings.push(...(await response.json()) as Funding[])
    url = next(response)
  }
  console.log(`${fundings.length} fundings`)
}

main().catch((error) => {
  console.error(error instanceof HTTPError ? `${error.response.status} ${error.response.url}` : error)
  process.exit(1)
})
