package flow

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/target"
)

// maxEntries bounds the entries of a registry that are listed.
const maxEntries = 500

// Entry is a node as a registry lists it.
type Entry struct {
	ID, Acronym, Name string
	TokenURL, InfoURL string
}

// ReadRegistry lists the nodes of the target's registry, from its document or from its URL.
func (w *Walk) ReadRegistry(ctx context.Context) (Result, []Entry) {
	scene := Result{Step: Node}
	t := w.Target()
	text := t.RegistryDocument
	if t.Registry != "" {
		answer, err := w.send(ctx, registryAsk(t.Registry))
		if err != nil {
			return troubled(scene, err), nil
		}
		scene.Exchanges = append(scene.Exchanges, answer.Exchange)
		if scene.Trouble = w.callTrouble(answer); scene.Trouble != nil {
			return scene, nil
		}
		text = answer.Body
		w.mu.Lock()
		w.target.RegistryDocument = text
		w.mu.Unlock()
	}
	entries, err := parseEntries(text)
	if err != nil {
		scene.Trouble = &Trouble{err.Error(), []string{"the URL or the file is another document"}, []string{"name the registry document of the network"}}
		return scene, nil
	}
	scene.Notes = append(scene.Notes, fmt.Sprintf("The registry lists %d %s.", len(entries), plural(len(entries), "entry", "entries")))
	return scene, entries
}

// parseEntries reads the entries of a registry document: under "member", or a bare array.
func parseEntries(text []byte) ([]Entry, error) {
	type member struct {
		ID, Acronym, Name any
		OAuth2, Info      any
	}
	var document struct{ Member []member }
	if err := json.Unmarshal(text, &document); err != nil || document.Member == nil {
		if json.Unmarshal(text, &document.Member) != nil || document.Member == nil {
			return nil, probe.ErrNoRegistry
		}
	}
	word := func(v any) string { s, _ := v.(string); return strings.TrimSpace(s) }
	var out []Entry
	for _, m := range document.Member[:min(len(document.Member), maxEntries)] {
		out = append(out, Entry{word(m.ID), word(m.Acronym), word(m.Name), word(m.OAuth2), word(m.Info)})
	}
	return out, nil
}

// Choose aims at a node of the registry that was read. URLs and credentials that were given with another node are not kept; those that were
// presented at this one before are.
func (w *Walk) ChooseNode(id string) error {
	t := w.Target()
	entry, err := probe.FindEntry(t.RegistryDocument, id)
	if err != nil {
		return err
	}
	if another := t.NodeID != "" && t.NodeID != id; another {
		there := withoutNode(t)
		there.Registry, there.RegistryDocument = t.Registry, t.RegistryDocument
		t = w.remembered(probe.Complete(there, entry))
	}
	t.NodeID = id
	if t = probe.Complete(t, entry); t.TokenURL == "" || t.InfoURL == "" {
		return fmt.Errorf("the entry %s names no token URL or no info URL", id)
	}
	if now := w.Target(); now.NodeID == id && now.TokenURL == t.TokenURL && now.InfoURL == t.InfoURL {
		return nil // it is there already, and keeps what it learnt
	}
	err = errors.Join(CheckURL("--token-url", t.TokenURL, t.AllowOrigins), CheckURL("--info-url", t.InfoURL, t.AllowOrigins))
	if err != nil {
		return fmt.Errorf("the entry %s can't be used: %w", id, err)
	}
	w.SetTarget(t)
	return nil
}

// locate goes to the node of the registry that the target names, the first one if it names none, for whoever begins in the middle. ok is
// false when there was trouble on the way, which the scene tells.
func (w *Walk) locate(ctx context.Context, scene *Result) (ok bool) {
	t := w.Target()
	if w.HasNode() {
		return true
	}
	if !w.HasRegistry() {
		scene.Trouble = &Trouble{"no node is chosen yet", []string{"the walk was begun in the middle"}, []string{"choose a node (step 1)"}}
		return false
	}
	read, entries := w.ReadRegistry(ctx)
	scene.Exchanges = append(scene.Exchanges, read.Exchanges...)
	if scene.Trouble = read.Trouble; !read.OK() {
		return false
	}
	id := t.NodeID
	if id == "" && len(entries) > 0 {
		id = entries[0].ID
	}
	if err := w.ChooseNode(id); err != nil {
		scene.Trouble = &Trouble{What: err.Error(), Causes: []string{"the registry has no such entry"}, Try: []string{"choose another node (step 1)"}}
		return false
	}
	return true
}

// Entries are those of the registry that was read last, or came as a file; none without one.
func (w *Walk) Entries() []Entry {
	entries, err := parseEntries(w.Target().RegistryDocument)
	if err != nil {
		return nil
	}
	return entries
}

// Registered tells whether the walk knows a registry to read.
func (w *Walk) HasRegistry() bool {
	t := w.Target()
	return t.Registry != "" || len(t.RegistryDocument) > 0
}

// Located tells whether the walk knows where tokens are issued and where info is.
func (w *Walk) HasNode() bool {
	t := w.Target()
	return t.TokenURL != "" && t.InfoURL != ""
}

// DeriveURLs fills in the URLs that follow from the info URL, as the interface document has it.
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

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// troubled is a scene that this machine could not play.
func troubled(s Result, err error) Result {
	s.Trouble = &Trouble{err.Error(), []string{"this machine"}, []string{"try again"}}
	return s
}

// latestOf is the latest answer with a label.
func (w *Walk) latestOf(label evidence.Label) (evidence.Exchange, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range slices.Backward(w.history[w.since:]) {
		if s.exchange.Label == label {
			return s.exchange, true
		}
	}
	return evidence.Exchange{}, false
}

// Account is what a person holds of a node: the client, and for the mistakes that are made on purpose a second one without the role and a
// token that has expired.
type Account struct {
	Client  target.Credentials
	Second  *target.Credentials
	Expired target.Secret
}

// Account is what the walk presents at its node.
func (w *Walk) Account() Account {
	t := w.Target()
	return Account{t.Credentials, t.Second, t.ExpiredToken}
}

// Present makes the account that of the walk, at this node. A token that was issued to another one is forgotten.
func (w *Walk) SetAccount(a Account) {
	t := w.Target()
	t.Credentials, t.Second, t.ExpiredToken = a.Client, a.Second, a.Expired
	w.SetTarget(t)
}

// withoutNode is a target that keeps nothing of the node that was aimed at: a secret is for the node that issued it, and no other sees it.
func withoutNode(t target.Target) target.Target {
	return target.Target{CACert: t.CACert, AllowOrigins: t.AllowOrigins, Politeness: t.Politeness}
}

// remembered gives a target the account that was presented at its token URL before; else, where only the path of the URL was mended, the one
// of the present target.
func (w *Walk) remembered(t target.Target) target.Target {
	w.mu.Lock()
	defer w.mu.Unlock()
	a, known := w.accounts[t.TokenURL]
	if !known && sameOrigin(t.TokenURL, w.target.TokenURL) {
		a = Account{w.target.Credentials, w.target.Second, w.target.ExpiredToken}
	}
	t.Credentials, t.Second, t.ExpiredToken = a.Client, a.Second, a.Expired
	return t
}

func sameOrigin(a, b string) bool {
	x, err := url.Parse(a)
	y, fault := url.Parse(b)
	return err == nil && fault == nil && x.Host != "" && evidence.Origin(x) == evidence.Origin(y)
}

// LookAt turns to another registry: its URL, or its document when it is a file.
func (w *Walk) UseRegistry(address string, document []byte) error {
	t := withoutNode(w.Target())
	t.Registry, t.RegistryDocument = address, document
	if err := CheckURL("--registry", address, t.AllowOrigins); address != "" && err != nil {
		return err
	}
	w.SetTarget(t)
	return nil
}

// GoTo aims at a node by its URLs; the one of the specification may be empty.
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
	w.SetTarget(DeriveURLs(w.remembered(t)))
	return nil
}

// CheckURL says what is wrong with a URL, in the words that the flag of the same meaning would be answered with; nil when it can be used.
// Origins are those that may be reached without TLS.
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

// CheckCredentials are the usual mistakes that credentials show before they are sent; none for those that look right. They hold nothing of the
// secret.
func CheckCredentials(c target.Credentials) []string {
	var out []string
	id, secret := c.ClientID, c.ClientSecret.Reveal()
	say := func(wrong bool, text string) {
		if wrong {
			out = append(out, text)
		}
	}
	say(id == "", "The client ID is empty.")
	say(secret == "", "The client secret is empty.")
	say(strings.TrimSpace(id) != id, "The client ID begins or ends with a blank or a line end.")
	say(strings.TrimSpace(secret) != secret, "The client secret begins or ends with a blank or a line end; many editors and echo add one.")
	say(isQuoted(id) || isQuoted(secret), "One of the two stands in quotation marks; they are not part of it.")
	say(secret != "" && id == secret, "ID and secret are the same text.")
	say(looksRandom(id) && !looksRandom(secret) && secret != "", "The ID looks like a secret and the secret like an ID: they may be swapped.")
	say(strings.HasPrefix(secret, "eyJ") && strings.Count(secret, ".") == 2, "The secret looks like an access token (a JWT). A token is what you get for the secret.")
	say(strings.HasPrefix(strings.ToLower(secret), "basic ") || isEncodedPair(secret, id), "The secret looks like an encoded Authorization header; give the secret itself.")
	say(strings.HasPrefix(secret, "env:") || strings.HasPrefix(secret, "file:"), "The secret is the name of a place, not what stands there.")
	say(len(secret) > 0 && len(secret) < 8, "The secret is very short.")
	return out
}

func isQuoted(s string) bool {
	return len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0]
}

// looksRandom tells a text of many kinds of characters and no words.
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

// isEncodedPair tells base64 of "id:secret".
func isEncodedPair(secret, id string) bool {
	decoded, err := base64.StdEncoding.DecodeString(secret)
	return err == nil && id != "" && strings.HasPrefix(string(decoded), id+":")
}
