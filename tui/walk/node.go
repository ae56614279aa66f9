package walk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
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
func (w *Walk) ReadRegistry(ctx context.Context) (Scene, []Entry) {
	scene := Scene{Step: Node}
	t := w.Target()
	text := t.RegistryDocument
	if t.Registry != "" {
		answer, err := w.send(ctx, registryAsk(t.Registry))
		if err != nil {
			return troubled(scene, err), nil
		}
		scene.Exchanges = append(scene.Exchanges, answer.Exchange)
		if scene.Trouble = w.refusedCall(answer); scene.Trouble != nil {
			return scene, nil
		}
		text = answer.Body
		w.mu.Lock()
		w.target.RegistryDocument = text
		w.mu.Unlock()
	}
	entries, err := entriesOf(text)
	if err != nil {
		scene.Trouble = &Trouble{err.Error(), []string{"the URL or the file is another document"}, []string{"name the registry document of the network"}}
		return scene, nil
	}
	scene.Says = append(scene.Says, fmt.Sprintf("The registry lists %d %s.", len(entries), plural(len(entries), "entry", "entries")))
	return scene, entries
}

// entriesOf reads the entries of a registry document: under "member", or a bare array.
func entriesOf(text []byte) ([]Entry, error) {
	type member struct {
		ID, Acronym, Name any
		OAuth2, Info      any
	}
	var document struct{ Member []member }
	if err := json.Unmarshal(text, &document); err != nil || document.Member == nil {
		if json.Unmarshal(text, &document.Member) != nil || document.Member == nil {
			return nil, discover.ErrNoRegistry
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
func (w *Walk) Choose(id string) error {
	t := w.Target()
	entry, err := discover.FindEntry(t.RegistryDocument, id)
	if err != nil {
		return err
	}
	if another := t.NodeID != "" && t.NodeID != id; another {
		there := elsewhere(t)
		there.Registry, there.RegistryDocument = t.Registry, t.RegistryDocument
		t = w.remembered(discover.Complete(there, entry))
	}
	t.NodeID = id
	if t = discover.Complete(t, entry); t.TokenURL == "" || t.InfoURL == "" {
		return fmt.Errorf("the entry %s names no token URL or no info URL", id)
	}
	if now := w.Target(); now.NodeID == id && now.TokenURL == t.TokenURL && now.InfoURL == t.InfoURL {
		return nil // it is there already, and keeps what it learnt
	}
	err = errors.Join(Misplaced("--token-url", t.TokenURL, t.AllowOrigins), Misplaced("--info-url", t.InfoURL, t.AllowOrigins))
	if err != nil {
		return fmt.Errorf("the entry %s can't be used: %w", id, err)
	}
	w.Aim(t)
	return nil
}

// locate goes to the node of the registry that the target names, the first one if it names none, for whoever begins in the middle. ok is
// false when there was trouble on the way, which the scene tells.
func (w *Walk) locate(ctx context.Context, scene *Scene) (ok bool) {
	t := w.Target()
	if w.Located() {
		return true
	}
	if !w.Registered() {
		scene.Trouble = &Trouble{"no node is chosen yet", []string{"the walk was begun in the middle"}, []string{"choose a node (step 1)"}}
		return false
	}
	read, entries := w.ReadRegistry(ctx)
	scene.Exchanges = append(scene.Exchanges, read.Exchanges...)
	if scene.Trouble = read.Trouble; !read.Well() {
		return false
	}
	id := t.NodeID
	if id == "" && len(entries) > 0 {
		id = entries[0].ID
	}
	if err := w.Choose(id); err != nil {
		scene.Trouble = &Trouble{What: err.Error(), Causes: []string{"the registry has no such entry"}, Try: []string{"choose another node (step 1)"}}
		return false
	}
	return true
}

// Entries are those of the registry that was read last, or came as a file; none without one.
func (w *Walk) Entries() []Entry {
	entries, err := entriesOf(w.Target().RegistryDocument)
	if err != nil {
		return nil
	}
	return entries
}

// Registered tells whether the walk knows a registry to read.
func (w *Walk) Registered() bool {
	t := w.Target()
	return t.Registry != "" || len(t.RegistryDocument) > 0
}

// Located tells whether the walk knows where tokens are issued and where info is.
func (w *Walk) Located() bool {
	t := w.Target()
	return t.TokenURL != "" && t.InfoURL != ""
}

// Derived fills in the URLs that follow from the info URL, as the interface document has it.
func Derived(t target.Target) target.Target {
	base, spec, ok := discover.Derive(t.InfoURL)
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
func troubled(s Scene, err error) Scene {
	s.Trouble = &Trouble{err.Error(), []string{"this machine"}, []string{"try again"}}
	return s
}

// latestOf is the latest answer with a label.
func (w *Walk) latestOf(label exchange.Label) (exchange.Exchange, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range slices.Backward(w.history[w.since:]) {
		if s.exchange.Label == label {
			return s.exchange, true
		}
	}
	return exchange.Exchange{}, false
}
