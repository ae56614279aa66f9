package probe

import (
	"context"
	"encoding/base64"
	"net/http"
	"sync"
	"time"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// facts hold what the run has learnt from answers, by which rows decide what to send. They are safe for concurrent use.
type facts struct {
	mu          sync.Mutex
	first       Token            // the first token of the run
	revoked     time.Time        // when [revokedToken] was revoked; zero before
	cacheExpiry time.Time        // when caches have dropped the expired tokens; see [run.cacheExpiry]
	tokens      map[string]Token // the newest good token of each kind, by its name in evidence
	issues      map[string]issue // by the value of the token
	issuer      issuerFacts
	scopes      []string // the scopes that the authorization server named
	statuses    map[evidence.Label]int
	urls        map[evidence.Resource]Resource
	items       map[evidence.Resource][]item
	records     map[evidence.Resource]*records
	endpoints   []endpoint
	document    *evidence.Document
	attempts    []attempt
	protected   evidence.Resource // the probe target, once it is chosen
	// cookies are those that good calls set; unconnected are the labels whose connection was refused.
	cookies     map[evidence.Resource][]*http.Cookie
	unconnected map[evidence.Label]bool
	// walks are the pages of lists, next the links to next pages.
	walks map[walkKey]*walk
	next  map[evidence.Resource]link
	// itemLinks are the links of items to themselves.
	itemLinks map[evidence.Resource][]itemLinkTo
	// ways are the URLs that good calls chose, for [way].
	ways map[evidence.Label]chosen
	// validators are the ETag and the date of the last good answer of a resource.
	validators map[evidence.Resource]validators
	// languages are the tags of the good answers that were requested in a language.
	languages map[evidence.Label]translation
	// listPages are the answers of lists without parameters. readings are the lists as they were read page by page. filters are the filters of lists with the
	// members that they compare. sizes are the size parameters that were recognised by their effect.
	listPages map[evidence.Resource]openapi.ListPage
	readings  map[readingName]*reading
	filters   map[evidence.Resource][]describedFilter
	bounds    map[evidence.Resource][]describedBound
	columns   map[evidence.Resource]columns
	instants  map[evidence.Resource][]instant
	sizes     map[evidence.Resource]openapi.Parameter
	titles    map[evidence.Resource][]title
	// identities are the members that identify the items of lists.
	identities map[evidence.Resource]openapi.IdentityMember
	// foreign has the differences between the lists of two clients.
	foreign map[evidence.Resource]foreignList
	// samples are values of path parameters whose values no list has, by [sampleKey].
	samples map[string]string
	// named are the texts in records of a detail operation that look like ids of its list, each once.
	named map[evidence.Resource][]string
}

func newFacts() *facts {
	return &facts{
		tokens:   map[string]Token{},
		issues:   map[string]issue{},
		statuses: map[evidence.Label]int{},
		urls:     map[evidence.Resource]Resource{},
		items:    map[evidence.Resource][]item{},
		records:  map[evidence.Resource]*records{},
		cookies:  map[evidence.Resource][]*http.Cookie{}, unconnected: map[evidence.Label]bool{},
		walks: map[walkKey]*walk{}, next: map[evidence.Resource]link{}, itemLinks: map[evidence.Resource][]itemLinkTo{},
		ways: map[evidence.Label]chosen{}, validators: map[evidence.Resource]validators{}, languages: map[evidence.Label]translation{},
		listPages: map[evidence.Resource]openapi.ListPage{}, readings: map[readingName]*reading{},
		bounds: map[evidence.Resource][]describedBound{}, columns: map[evidence.Resource]columns{}, instants: map[evidence.Resource][]instant{},
		filters: map[evidence.Resource][]describedFilter{}, sizes: map[evidence.Resource]openapi.Parameter{}, titles: map[evidence.Resource][]title{},
		foreign: map[evidence.Resource]foreignList{}, identities: map[evidence.Resource]openapi.IdentityMember{}, named: map[evidence.Resource][]string{},
	}
}

// with calls do under the lock.
func (f *facts) with(do func(f *facts)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do(f)
}

// status returns the status of the answer to a label, 0 if no answer came.
func (f *facts) status(l evidence.Label) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.statuses[l]
}

// good reports whether the answer to a label was 2xx.
func (f *facts) good(l evidence.Label) bool { return f.status(l)/100 == 2 }

// keep stores the newest token under its name.
func (f *facts) keep(name string, t Token) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if name == AccessToken && f.first.Value == "" {
		f.first = t
	}
	f.tokens[name] = t
	i := f.issues[t.Value]
	if i.times++; i.times == 1 {
		i.first = t
	}
	i.last = t
	f.issues[t.Value] = i
}

// issue says how often a token was handed out, and what the answers said about it the first and the last time.
type issue struct {
	first, last Token
	times       int
}

// issueOf returns the issue of a token.
func (f *facts) issueOf(t Token) issue {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.issues[t.Value]
}

// handsOutAgain reports whether the first token of the run, or the newest one, came more than once.
func (f *facts) handsOutAgain() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.issues[f.first.Value].times > 1 || f.issues[f.tokens[AccessToken].Value].times > 1
}

// token returns the newest token of that name, or the zero token.
func (f *facts) token(name string) Token {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tokens[name]
}

func (f *facts) resource(r evidence.Resource) (Resource, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found, ok := f.urls[r]
	return found, ok
}

func (f *facts) itemsOf(r evidence.Resource) []item {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.items[r]
}

func (f *facts) cookiesOf(r evidence.Resource) []*http.Cookie {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cookies[r]
}

// isConnectionRefused reports whether the connection for a label was refused.
func (f *facts) isConnectionRefused(l evidence.Label) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unconnected[l]
}

// current returns the token in use, or the zero token.
func (r *run) current() Token { return r.facts.token(AccessToken) }

// token returns the token for an authorized request, after renewing it if it is stale.
func (r *run) token(ctx context.Context) (string, *unsent) {
	token := r.renewed(ctx, AccessToken, TokenRequest(r.Target, ClientSecret, Credentialed(r.Target.Credentials)...))
	if token == "" {
		return "", unmet("there is no access token")
	}
	return token, nil
}

// secondToken returns the token of the client without the role.
func (r *run) secondToken(ctx context.Context) (string, *unsent) {
	token := r.renewed(ctx, SecondAccessToken, r.secondRequest())
	if token == "" {
		return "", unmet("the second client got no token")
	}
	return token, nil
}

// renewalTime bounds a renewal by [run.issuedToken]: all other renewals wait for it, and the server may be that of another environment.
const renewalTime = 10 * time.Second

// issuedToken returns the newest token with the name. It renews a stale token of the client of another audience, of staging, and of the spare client, because
// the refusal of an expired token proves nothing about the client. Other tokens are not renewed.
func (r *run) issuedToken(ctx context.Context, name string) Token {
	request := map[string]sender{OtherAccessToken: otherTokenRequest, StagingAccessToken: stagingTokenRequest, SpareAccessToken: spareTokenRequest}[name]
	if request != nil && r.facts.token(name).Value != "" {
		if q, reason := request(ctx, r, ""); reason == nil {
			q.NoRetry, q.Timeout = true, renewalTime
			r.renewed(ctx, name, q)
		}
	}
	return r.facts.token(name)
}

// renewed returns the token with the name; it renews a stale one with the request. The request has no label, because no requirement needs it. After a renewal
// has failed, renewed does not try again.
func (r *run) renewed(ctx context.Context, name string, request recorder.Request) string {
	r.renewing.Lock()
	defer r.renewing.Unlock()
	t := r.facts.token(name)
	if t.Value == "" || r.unrenewed[name] || !t.Stale(r.Clock()) {
		return t.Value
	}
	fresh, ok := ReadToken(r.recorder.Send(ctx, request), r.Clock())
	if !ok {
		r.unrenewed[name] = true
		return t.Value
	}
	r.facts.keep(name, fresh)
	return fresh.Value
}

func (r *run) secondRequest() recorder.Request {
	q := TokenRequest(r.Target, SecondSecret, Credentialed(*r.Target.Second)...)
	q.Issues = SecondAccessToken
	return q
}

// authorized returns the good request to a resource.
func (r *run) authorized(ctx context.Context, res Resource) (recorder.Request, *unsent) {
	token, reason := r.token(ctx)
	return res.Authorized(token), reason
}

// secondTokenRequest fetches a token for the client without the role.
func secondTokenRequest(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	return r.secondRequest(), nil
}

// crossedRequest requests a token with the id of the second client and the secret of the first: a server may look up a secret among all clients.
func crossedRequest(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	switch {
	case r.Target.Second == nil:
		return recorder.Request{}, notApplicable("no second client was given")
	case r.current().Value == "":
		return recorder.Request{}, unmet("the secret of the first client yielded no token")
	case r.Target.Second.ClientSecret.Reveal() == r.Target.Credentials.ClientSecret.Reveal():
		return recorder.Request{}, notApplicable("both clients have the same secret")
	}
	q := TokenRequest(r.Target, ClientSecret, Credentialed(target.Credentials{
		ClientID: r.Target.Second.ClientID, ClientSecret: r.Target.Credentials.ClientSecret,
	})...)
	q.Issues, q.NoRetry = SecondAccessToken, true
	return q, nil
}

// basic returns the value of an Authorization header for HTTP Basic (RFC 7617 §2).
func basic(id, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
}

// drawn are random values that several requests of a run share.
type drawn struct {
	id            string // an id that the node cannot know
	word          string // the name of a query parameter that no document describes
	host          string // a host that does not exist
	clientID      string // the id of a client that does not exist
	unknownSecret string // a secret for clients that do not exist
}

// drawValues draws the values of a run. Made-up credentials have the shape of the real ones.
func drawValues(seed draw.Seed, real target.Credentials) drawn {
	s := seed.Source("values")
	secret := real.ClientSecret.Reveal()
	d := drawn{id: s.UUID(), word: s.Word(), host: s.Host(), clientID: s.Like(real.ClientID), unknownSecret: s.Like(secret)}
	if len(real.ClientID) < 8 { // a short id may be that of another client
		d.clientID = s.Word() + "-" + s.Word()
	}
	if len(secret) < concealedLength {
		d.unknownSecret = s.Text(draw.Base64, 2*concealedLength)
	}
	return d
}
