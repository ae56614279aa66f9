package registry

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/report"
)

// Bounds of a registry document.
const (
	MaxDocument = 16 << 20 // bytes
	maxEntries  = 100_000
	maxID       = 200 // bytes
)

// Document is a registry document that was read.
type Document struct {
	Text    []byte
	Entries []Entry
}

// Entry is the entry of a node.
type Entry struct {
	ID, InfoURL, TokenURL string
	// Name is the name of the institution, made plain; it may be empty.
	Name string
	// Problem says why the node cannot be tested by this entry; "" if it can.
	Problem string
}

// Digest returns the digest of the document.
func (d Document) Digest() string {
	sum := sha256.Sum256(d.Text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Find returns the entry of a node.
func (d Document) Find(id string) (Entry, bool) {
	i, found := slices.BinarySearchFunc(d.Entries, id, func(e Entry, id string) int { return cmp.Compare(e.ID, id) })
	if !found {
		return Entry{}, false
	}
	return d.Entries[i], true
}

// ErrNoEntries is wrapped by the error for a document without entries, such as that of a registry before its first admission.
var ErrNoEntries = errors.New("expected entries with an id, got an empty document")

// ReadDocument reads a registry document. An id that occurs twice yields one entry with a problem, because rin cannot know which of the two is the node's.
func ReadDocument(text []byte) (Document, error) {
	d := Document{Text: text}
	switch start := bytes.ToLower(bytes.TrimSpace(text[:min(len(text), 512)])); {
	case len(text) > MaxDocument:
		return d, fmt.Errorf("read the registry document: expected at most %d bytes, got more (hint: check the URL in registry.yaml)", MaxDocument)
	case bytes.HasPrefix(start, []byte("<")):
		return d, errors.New("read the registry document: expected JSON, got a page of HTML or XML (hint: name the URL of the document itself; a login or an error page may be in its place)")
	}
	entries, err := probe.ReadEntries(text)
	switch {
	case err != nil:
		return d, fmt.Errorf("read the registry document: %s (hint: check the URL in registry.yaml)", report.Plain(clip(err.Error())))
	case len(entries) == 0:
		return d, fmt.Errorf("read the registry document: %w (hint: check document in registry.yaml; rin registry admit adds the first node)", ErrNoEntries)
	case len(entries) > maxEntries:
		return d, fmt.Errorf("read the registry document: expected at most %d entries, got %d", maxEntries, len(entries))
	}
	for _, e := range entries {
		entry := Entry{ID: e.ID, InfoURL: e.InfoURL, TokenURL: e.TokenURL, Name: nameIn(e.Raw)}
		switch {
		case !isUsableID(e.ID):
			continue // rin certify reports such an id
		case e.InfoURL == "" || e.TokenURL == "":
			entry.Problem = "its registry entry lacks the URL oauth2 or info"
		}
		d.Entries = append(d.Entries, entry)
	}
	slices.SortStableFunc(d.Entries, func(a, b Entry) int { return cmp.Compare(a.ID, b.ID) })
	for i := 1; i < len(d.Entries); i++ {
		if d.Entries[i].ID == d.Entries[i-1].ID {
			d.Entries[i-1].Problem = "the registry document has its id twice"
			d.Entries = slices.Delete(d.Entries, i, i+1)
			i--
		}
	}
	return d, nil
}

// isUsableID reports whether an id is short enough, and has no control characters.
func isUsableID(id string) bool {
	return len(id) <= maxID && !strings.ContainsFunc(id, func(r rune) bool { return r < ' ' })
}

// nameIn returns the name in an entry.
func nameIn(entry []byte) string {
	var members map[string]json.RawMessage
	var name string
	if json.Unmarshal(entry, &members) != nil || json.Unmarshal(members["name"], &name) != nil {
		return ""
	}
	return report.Plain(strings.TrimSpace(evidence.Clip(name, 120)))
}

// Compare refuses a document that lost more entries than the policy allows, so that a truncated document does not withdraw certificates.
func (p Policy) Compare(before, now Document) error {
	var lost []string
	for _, e := range before.Entries {
		if _, found := now.Find(e.ID); !found {
			lost = append(lost, report.Plain(e.ID))
		}
	}
	if allowed := max(1, len(before.Entries)*p.MayShrink/100); len(lost) > allowed {
		return fmt.Errorf("the registry document shrank from %s to %s: %s %s missing (hint: repair it; if this is meant, say --accept-document %s)",
			evidence.Count(len(before.Entries), "entry"), evidence.Count(len(now.Entries), "entry"), evidence.ShortList(lost, 5), isOrAre(len(lost)), shortDigest(now))
	}
	return nil
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// shortDigest returns a prefix of the digest that is long enough to name a document on a command line.
func shortDigest(d Document) string { return strings.TrimPrefix(d.Digest(), "sha256:")[:12] }

// movedReason returns why a node gets no credentials: its entry has an origin that is not proved. It returns "" if all origins are known, or the node is
// new. Otherwise a person who changes the registry document could collect the secrets of all nodes.
func movedReason(n Node, e Entry, p NodePolicy) string {
	known := append(slices.Clone(p.Origins), evidence.OriginOf(n.InfoURL), evidence.OriginOf(n.TokenURL))
	for _, u := range n.CertifiedURLs {
		known = append(known, evidence.OriginOf(u))
	}
	if n.InfoURL == "" { // the node is new
		return ""
	}
	for _, u := range []string{e.TokenURL, e.InfoURL} {
		if origin := evidence.OriginOf(u); !slices.Contains(known, origin) {
			return fmt.Sprintf("its entry moved to %s, where control is not proved; no credentials were sent there (rin registry admit %s, or list the origin under origins)", report.Plain(origin), report.Plain(e.ID))
		}
	}
	return ""
}
