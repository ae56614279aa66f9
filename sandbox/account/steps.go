package account

import (
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// NewClient is a client that the operator of the authorization server creates.
type NewClient struct {
	// ID is the Client ID.
	ID string
	// Audience is the audience of its tokens; the node's API when empty.
	Audience string
	// Request is the id of the request for access for which the client is created; empty without one.
	Request string
}

// Credentials is what the requester receives (NET-R16). The secret is not stored anywhere, only its hash.
type Credentials struct {
	// ID, Secret and Subject are Client ID, Client Secret and Service Account User ID.
	ID, Secret, Subject string
}

// RequestAccess records a request for access and sets its id and time.
func (b *Books) RequestAccess(r Request) (Request, error) {
	if err := r.check(); err != nil {
		return Request{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.requests.rows()
	if len(all) >= maxEntries {
		return Request{}, full("requests")
	}
	last := 0
	for id := range all {
		last = max(last, requestNumber(id))
	}
	r.ID, r.Received, r.Client = requestID(last+1), b.time(), ""
	if err := b.save(Change{Request: &r}); err != nil {
		return Request{}, err
	}
	return r, nil
}

// Create registers a client with the authorization server, but not with the funding service. The id of a revoked client may be used again for a
// new client, with another Service Account User ID.
func (b *Books) Create(c NewClient) (Credentials, error) {
	if err := checkNewID(c.ID); err != nil {
		return Credentials{}, err
	}
	if !isLine(c.Audience) {
		return Credentials{}, invalidError("audience: expected one line", "give the URL of the API that the tokens are meant for")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	before, known := b.clients.entries.get(c.ID)
	switch {
	case known && before.Revoked.IsZero():
		return Credentials{}, conflictError(fmt.Sprintf("client %q exists already", c.ID), "choose another id, or rin client rotate "+c.ID+" for another secret")
	case !known && len(b.clients.entries.rows()) >= maxEntries:
		return Credentials{}, full("clients")
	}
	var change Change
	if c.Request != "" {
		request, known := b.requests.get(c.Request)
		if !known {
			return Credentials{}, unknownError(fmt.Sprintf("there is no request %q", c.Request), "rin client list shows the waiting requests")
		}
		if request.Client != "" {
			return Credentials{}, conflictError(fmt.Sprintf("request %s was answered with client %q", request.ID, request.Client), "leave the request out")
		}
		request.Client = c.ID
		change.Request = &request
	}
	return b.enter(Registration{Client: c}, change)
}

// Grant replaces role and affiliation of a client's service account in the funding service's book. If either is empty, the funding service refuses
// the client.
func (b *Books) Grant(id string, p Permission) (Entry, error) {
	if !isLine(p.Role) || !isLine(p.Affiliation) {
		return Entry{}, invalidError("role and affiliation: expected one line each", "give the role's name, and the affiliation ID as the funding service knows it")
	}
	return b.change(id, func(c Client) (Change, error) { return Change{Account: &p, Subject: c.Subject}, nil })
}

// Rotate gives a client another secret and refuses the old one. Its tokens stay valid until they expire, because tokens in the network are not
// bound to the secret.
func (b *Books) Rotate(id string) (Credentials, error) {
	secret, err := NewSecret(b.random)
	if err != nil {
		return Credentials{}, err
	}
	digest, err := NewDigest(b.random, secret)
	if err != nil {
		return Credentials{}, err
	}
	e, err := b.change(id, func(c Client) (Change, error) {
		c.Secret, c.Rotated, c.Unseen = digest, b.time(), false
		return Change{Client: &c}, nil
	})
	if err != nil {
		return Credentials{}, err
	}
	return Credentials{ID: id, Secret: secret, Subject: e.Subject}, nil
}

// Revoke revokes a client and closes its account. The client gets no more tokens, and its tokens are refused from the
// next call on.
func (b *Books) Revoke(id string) (Entry, error) {
	return b.change(id, func(c Client) (Change, error) {
		c.Revoked = b.time()
		return Change{Client: &c, ClosedAccount: c.Subject}, nil
	})
}

// change runs step with a client, saves its result, and returns the client's new entry. It refuses an unknown or
// revoked client.
func (b *Books) change(id string, step func(Client) (Change, error)) (Entry, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	client, known := b.clients.entries.get(id)
	switch {
	case !known:
		return Entry{}, unknownError(fmt.Sprintf("there is no client %q", id), "rin client list shows all clients")
	case !client.Revoked.IsZero():
		return Entry{}, conflictError(fmt.Sprintf("client %q was revoked", id), "rin client create "+id+" makes a new client of that id")
	}
	change, err := step(*client)
	if err == nil {
		err = b.save(change)
	}
	if err != nil {
		return Entry{}, err
	}
	e, _ := b.Entry(id)
	return e, nil
}

// time returns the current time in whole seconds, as the books keep it.
func (b *Books) time() time.Time { return b.now().UTC().Truncate(time.Second) }

// full refuses a new entry, because its book has reached the limit.
func full(what string) error {
	return conflictError(fmt.Sprintf("the node has %d %s, and takes no more", maxEntries, what), "start the sandbox with another --data directory")
}

// checkNewID refuses an id with characters that need escapes in a URL or quotes on a command line. checkID, for configured ids, is less strict.
func checkNewID(id string) error {
	wrong := strings.IndexFunc(id, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._~", r))
	})
	if id == "" || len(id) > 64 || wrong >= 0 || strings.Trim(id, "-.") == "" || id[0] == '-' {
		return invalidError(fmt.Sprintf("client id %q: want 1 to 64 letters, digits, '-', '_', '.' and '~'", id), "choose an id such as library-calls")
	}
	return nil
}

func requestID(n int) string { return "R-" + strconv.Itoa(n) }

// requestNumber returns the number in the id of a request; 0 for an id of another form.
func requestNumber(id string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(id, "R-"))
	if err != nil {
		return 0
	}
	return n
}

// Registration is a client from the configuration, with its entries in both books. An empty Secret or Subject is generated.
type Registration struct {
	Client NewClient
	Secret string
	// Generated reports that the configuration has no secret, so that a generated one must be shown, see [Books.RecordShown].
	Generated  bool
	Subject    string
	Permission Permission
}

// Enter writes the configured clients into the books. A client that is in the store already stays as it is, even if it is revoked, because the
// store is newer than the configuration. Only a secret that was never shown, because the process ended too early, is replaced. [Books.Reset] restores
// the books to their state after Enter.
func (b *Books) Enter(configured []Registration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	named := map[string]bool{}
	for _, r := range configured {
		if err := checkID(r.Client.ID); err != nil {
			return err
		}
		if named[r.Client.ID] {
			return conflictError(fmt.Sprintf("client %q is registered twice", r.Client.ID), "give each client an id of its own")
		}
		named[r.Client.ID] = true
		before, known := b.clients.entries.get(r.Client.ID)
		if known && !before.Unseen {
			continue
		}
		if known {
			r.Subject, r.Permission = before.Subject, Permission{}
		}
		if _, err := b.enter(r, Change{}); err != nil {
			return err
		}
	}
	b.initial = snapshot{b.clients.entries.rows(), b.accounts.entries.rows(), b.requests.rows()}
	return nil
}

// RecordShown records that the secrets of all clients have been shown. From then on Enter does not replace them.
func (b *Books) RecordShown() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, client := range b.clients.entries.rows() {
		if !client.Unseen {
			continue
		}
		seen := *client
		seen.Unseen = false
		if err := b.save(Change{Client: &seen}); err != nil {
			return err
		}
	}
	return nil
}

// enter adds a client to change, adds the client's account if r has a permission, and saves the change. It generates the secret and the
// subject if they are empty.
func (b *Books) enter(r Registration, change Change) (Credentials, error) {
	issued := Credentials{ID: r.Client.ID, Secret: r.Secret, Subject: r.Subject}
	var err error
	if issued.Secret == "" {
		issued.Secret, err = NewSecret(b.random)
	}
	if err == nil && issued.Subject == "" {
		issued.Subject, err = NewSubject(b.random)
	}
	if err != nil {
		return Credentials{}, err
	}
	digest, err := NewDigest(b.random, issued.Secret)
	if err != nil {
		return Credentials{}, err
	}
	change.Client = &Client{ID: issued.ID, Secret: digest, Subject: issued.Subject, Audience: r.Client.Audience, Request: r.Client.Request, Unseen: r.Generated, Created: b.time()}
	if r.Permission != (Permission{}) {
		change.Account, change.Subject = &r.Permission, issued.Subject
	}
	return issued, b.save(change)
}

// checkID requires 1 to 255 characters of printable ASCII (RFC 6749 appendix A.1).
func checkID(id string) error {
	if id == "" || len(id) > 255 {
		return invalidError(fmt.Sprintf("client id of %d characters: want 1 to 255", len(id)), "name the client")
	}
	if strings.IndexFunc(id, func(r rune) bool { return r < 0x20 || r > 0x7e }) >= 0 {
		return invalidError(fmt.Sprintf("client id %q: want printable ASCII only", id), "use letters, digits and '-'")
	}
	return nil
}

// NewSubject generates a Service Account User ID (NET-R16) in the form of a UUID of version 4 (RFC 9562 §5.4).
func NewSubject(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("generate a service account user id: %w", err)
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	x := hex.EncodeToString(b[:])
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:], nil
}
