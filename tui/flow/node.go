package flow

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/target"
)

// maxEntries is the number of registry entries that are listed.
const maxEntries = 500

// Entry is a node as a registry lists it.
type Entry struct {
	ID, Acronym, Name string
	TokenURL, InfoURL string
}

// ReadRegistry reads the registry of the target, from its URL or its document. Afterwards, [Walk.Entries] lists the nodes.
func (w *Walk) ReadRegistry(ctx context.Context) Result {
	result := Result{Step: Node}
	t := w.Target()
	document := t.RegistryDocument
	if t.Registry != "" {
		answer, ok := w.exchange(ctx, &result, probe.Labelled("registry.ok", probe.Resource{URL: t.Registry}.Get()), w.callTrouble)
		if !ok {
			return result
		}
		document = answer.Body
		w.mu.Lock()
		w.target.RegistryDocument = document
		w.mu.Unlock()
	}
	entries, err := parseEntries(document)
	if err != nil {
		result.Trouble = &Trouble{err.Error(), []string{"the URL or the file is another document"}, []string{"name the registry document of the network"}}
		return result
	}
	result.Notes = append(result.Notes, "The registry lists "+evidence.Count(len(entries), "entry")+".")
	return result
}

// parseEntries reads the entries of a registry document: under "member", or as a bare array.
func parseEntries(document []byte) ([]Entry, error) {
	list := json.RawMessage(document)
	if registry, isObject := evidence.ParseObject(document); isObject {
		list = registry["member"]
	}
	var members []json.RawMessage
	if json.Unmarshal(list, &members) != nil || members == nil {
		return nil, probe.ErrNoRegistry
	}
	var entries []Entry
	for _, raw := range members[:min(len(members), maxEntries)] {
		m, isObject := evidence.ParseObject(raw)
		if !isObject {
			continue
		}
		trimmed := func(name string) string { return strings.TrimSpace(m.Text(name)) }
		entries = append(entries, Entry{trimmed("id"), trimmed("acronym"), trimmed("name"), trimmed("oauth2"), trimmed("info")})
	}
	return entries, nil
}

// Entries returns the nodes of the registry that was read last or came as a file.
func (w *Walk) Entries() []Entry {
	entries, err := parseEntries(w.Target().RegistryDocument)
	if err != nil {
		return nil
	}
	return entries
}

// ChooseNode sets the target to a node of the registry. URLs and credentials of the previous node are dropped; the account that was last used
// at the chosen node comes back.
func (w *Walk) ChooseNode(id string) error {
	t := w.Target()
	entry, err := probe.FindEntry(t.RegistryDocument, id)
	if err != nil {
		return err
	}
	if t.NodeID != "" && t.NodeID != id {
		other := withoutNode(t)
		other.Registry, other.RegistryDocument = t.Registry, t.RegistryDocument
		t = w.withKnownAccount(probe.Complete(other, entry))
	}
	t.NodeID = id
	if t = probe.Complete(t, entry); t.TokenURL == "" || t.InfoURL == "" {
		return fmt.Errorf("the entry %s has no token URL or no info URL", id)
	}
	if current := w.Target(); current.NodeID == id && current.TokenURL == t.TokenURL && current.InfoURL == t.InfoURL {
		return nil // the walk keeps what it learnt about this node
	}
	err = errors.Join(CheckURL("--token-url", t.TokenURL, t.AllowOrigins), CheckURL("--info-url", t.InfoURL, t.AllowOrigins))
	if err != nil {
		return fmt.Errorf("the entry %s cannot be used: %w", id, err)
	}
	w.SetTarget(t)
	return nil
}

// ensureNode chooses the node that the target names, or the first one of the registry, for a tour that starts at a later step. ok is false
// if that fails.
func (w *Walk) ensureNode(ctx context.Context, result *Result) (ok bool) {
	if w.HasNode() {
		return true
	}
	if !w.HasRegistry() {
		result.Trouble = &Trouble{"no node is chosen yet", []string{"the tour started at a later step"}, []string{"choose a node (step 1)"}}
		return false
	}
	read := w.ReadRegistry(ctx)
	result.Exchanges = append(result.Exchanges, read.Exchanges...)
	result.Trouble = read.Trouble
	if !read.OK() {
		return false
	}
	id := w.Target().NodeID
	if entries := w.Entries(); id == "" && len(entries) > 0 {
		id = entries[0].ID
	}
	if err := w.ChooseNode(id); err != nil {
		result.Trouble = &Trouble{What: err.Error(), Causes: []string{"the registry has no such entry"}, Try: []string{"choose another node (step 1)"}}
		return false
	}
	return true
}

// HasRegistry reports whether the target has a registry.
func (w *Walk) HasRegistry() bool {
	t := w.Target()
	return t.Registry != "" || len(t.RegistryDocument) > 0
}

// HasNode reports whether the target has a token URL and an info URL.
func (w *Walk) HasNode() bool {
	t := w.Target()
	return t.TokenURL != "" && t.InfoURL != ""
}

// UseRegistry sets another registry: its URL, or its document if it is a file.
func (w *Walk) UseRegistry(address string, document []byte) error {
	t := withoutNode(w.Target())
	t.Registry, t.RegistryDocument = address, document
	if err := CheckURL("--registry", address, t.AllowOrigins); address != "" && err != nil {
		return err
	}
	w.SetTarget(t)
	return nil
}

// UseURLs sets a node by its URLs. The URL of the specification may be empty.
func (w *Walk) UseURLs(tokenURL, infoURL, specURL string) error {
	t := withoutNode(w.Target())
	t.TokenURL, t.InfoURL, t.SpecURL = tokenURL, infoURL, specURL
	err := errors.Join(CheckURL("--token-url", tokenURL, t.AllowOrigins), CheckURL("--info-url", infoURL, t.AllowOrigins))
	if specURL != "" {
		err = errors.Join(err, CheckURL("--spec-url", specURL, t.AllowOrigins))
	}
	if err != nil {
		return err
	}
	w.SetTarget(DeriveURLs(w.withKnownAccount(t)))
	return nil
}

// DeriveURLs fills in the URLs that follow from the info URL.
func DeriveURLs(t target.Target) target.Target {
	base, spec, ok := probe.Derive(t.InfoURL)
	if !ok {
		return t
	}
	if t.BaseURL == "" {
		t.BaseURL = base
	}
	if t.SpecURL == "" {
		t.SpecURL = spec
	}
	return t
}

// CheckURL returns the error that the flag of a URL would report, or nil. The origins may be used without TLS.
func CheckURL(flag, text string, origins []string) error {
	t := target.Target{AllowOrigins: origins}
	switch flag {
	case "--registry":
		t.Registry = text
	case "--token-url":
		t.TokenURL = text
	case "--info-url":
		t.InfoURL = text
	case "--spec-url":
		t.SpecURL = text
	}
	joined, ok := t.Validate().(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, err := range joined.Unwrap() {
		var p *target.Problem
		if errors.As(err, &p) && p.Flag == flag {
			return fmt.Errorf("%s: %s", strings.TrimSuffix(p.Message, "."), p.Hint)
		}
	}
	return nil
}

// Account is what a person has at a node: a client and, for the mistakes of the step "what if", a second client without the role and an
// expired token.
type Account struct {
	Client  target.Credentials
	Second  *target.Credentials
	Expired target.Secret
}

// Account returns the account that the walk uses.
func (w *Walk) Account() Account {
	t := w.Target()
	return Account{t.Credentials, t.Second, t.ExpiredToken}
}

// SetAccount sets the account at the current node. The token of the previous account is dropped.
func (w *Walk) SetAccount(a Account) {
	t := w.Target()
	t.Credentials, t.Second, t.ExpiredToken = a.Client, a.Second, a.Expired
	w.SetTarget(t)
}

// withoutNode keeps only those settings of a target that hold for any node, so that no secret goes to another node.
func withoutNode(t target.Target) target.Target {
	return target.Target{CACert: t.CACert, AllowOrigins: t.AllowOrigins, Politeness: t.Politeness}
}

// withKnownAccount gives a target the account that was last used at its token URL, or the current one if the origin is the same.
func (w *Walk) withKnownAccount(t target.Target) target.Target {
	w.mu.Lock()
	defer w.mu.Unlock()
	a, known := w.accounts[t.TokenURL]
	if !known && evidence.SameOrigin(t.TokenURL, w.target.TokenURL) {
		a = Account{w.target.Credentials, w.target.Second, w.target.ExpiredToken}
	}
	t.Credentials, t.Second, t.ExpiredToken = a.Client, a.Second, a.Expired
	return t
}

// latest returns the latest exchange with a label; ok is false if the current target has none.
func (w *Walk) latest(label evidence.Label) (x evidence.Exchange, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range slices.Backward(w.history[w.targetStart:]) {
		if s.exchange.Label == label {
			return s.exchange, true
		}
	}
	return evidence.Exchange{}, false
}

// CheckCredentials lists common mistakes in credentials. The texts reveal nothing of the secret.
func CheckCredentials(c target.Credentials) []string {
	id, secret := c.ClientID, c.ClientSecret.Reveal()
	var found []string
	for _, check := range []struct {
		wrong bool
		text  string
	}{
		{id == "", "The client ID is empty."},
		{secret == "", "The client secret is empty."},
		{strings.TrimSpace(id) != id, "The client ID begins or ends with white space or a line end."},
		{strings.TrimSpace(secret) != secret, "The client secret begins or ends with white space or a line end; many editors and echo add one."},
		{isQuoted(id) || isQuoted(secret), "The ID or the secret is in quotation marks; they are not part of it."},
		{secret != "" && id == secret, "ID and secret are the same text."},
		{looksRandom(id) && !looksRandom(secret) && secret != "", "The ID looks like a secret and the secret looks like an ID: they may be swapped."},
		{strings.HasPrefix(secret, "eyJ") && strings.Count(secret, ".") == 2, "The secret looks like an access token (a JWT). The client sends its secret to get a token."},
		{strings.HasPrefix(strings.ToLower(secret), "basic ") || isEncodedPair(secret, id), "The secret looks like an encoded Authorization header; use the secret itself."},
		{strings.HasPrefix(secret, "env:") || strings.HasPrefix(secret, "file:"), "The secret is the name of a place, not the secret that is stored there."},
		{len(secret) > 0 && len(secret) < 8, "The secret is very short."},
	} {
		if check.wrong {
			found = append(found, check.text)
		}
	}
	return found
}

func isQuoted(s string) bool {
	return len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0]
}

// looksRandom reports whether a text mixes kinds of characters and is neither words nor a UUID.
func looksRandom(s string) bool {
	if len(s) < 20 || strings.ContainsAny(s, " ") || regexp.MustCompile(`^[a-z]+([-_.][a-z]+)+$`).MatchString(s) {
		return false
	}
	kinds := 0
	for _, set := range []string{"abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"} {
		if strings.ContainsAny(s, set) {
			kinds++
		}
	}
	return kinds >= 2 && !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-`).MatchString(s)
}

// isEncodedPair reports whether secret is base64 of "id:secret".
func isEncodedPair(secret, id string) bool {
	decoded, err := base64.StdEncoding.DecodeString(secret)
	return err == nil && id != "" && strings.HasPrefix(string(decoded), id+":")
}
