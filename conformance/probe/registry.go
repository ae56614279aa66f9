package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// registryRequests is the budget for reading the registry, including repeats and a redirect.
const registryRequests = 4

// locate fills in the URLs of the node, from its registry entry if the run has a registry.
func (r *run) locate(ctx context.Context) (target.Target, error) {
	document := r.Target.RegistryDocument
	if len(document) == 0 && r.Target.Registry == "" {
		return Complete(r.Target, RegistryEntry{}).Defaults(), nil
	}
	if len(document) == 0 {
		var err error
		if document, err = r.readRegistry(ctx); err != nil {
			return target.Target{}, err
		}
	}
	entry, err := FindEntry(document, r.Target.NodeID)
	var unknown *UnknownNodeError
	if errors.As(err, &unknown) {
		return target.Target{}, unknown.problem()
	}
	if err != nil {
		return target.Target{}, fmt.Errorf("read the registry: %w", err)
	}
	entry.Facts.Digest = evidence.DigestOf(document)
	r.entry = entry
	r.Redactor.Finder().Body(entry.Raw, nil, false, false)
	r.Journal.Registry(r.Redactor.Bytes(entry.Raw), entry.Facts.Redacted(r.Redactor))
	t := Complete(r.Target, entry)
	if t.TokenURL == "" || t.InfoURL == "" {
		return target.Target{}, fmt.Errorf("the registry's entry %s: expected the URLs oauth2 and info, got %q and %q", entry.ID, t.TokenURL, t.InfoURL)
	}
	t = t.Defaults()
	if err := t.Validate(); err != nil {
		return target.Target{}, fmt.Errorf("the registry's entry %s: %w", entry.ID, err)
	}
	return t, nil
}

func (r *run) readRegistry(ctx context.Context) ([]byte, error) {
	recorder, err := r.Recorder(r.Target, registryRequests)
	if err != nil {
		return nil, fmt.Errorf("prepare reading the registry: %w", err)
	}
	defer recorder.Close()
	a := recorder.Send(ctx, Labelled("registry.ok", Resource{URL: r.Target.Registry}.Get()))
	r.before = recorder.Sent()
	r.count(evidence.Registry.With(evidence.OK))
	switch {
	case a.Failure() != nil:
		return nil, fmt.Errorf("read the registry: no answer from %s: %s", r.Target.Registry, a.Failure().Message)
	case !a.OK():
		return nil, fmt.Errorf("read the registry: expected 200 from %s, got %d", r.Target.Registry, a.Status)
	case len(a.Body) == 0:
		return nil, errors.New("read the registry: the answer is empty")
	}
	return a.Body, nil
}

// RegistryEntry is a node's entry in the registry, without blanks around its values.
type RegistryEntry struct {
	ID       string
	TokenURL string // member "oauth2"
	InfoURL  string // member "info"
	// Raw is the entry in the registry, unchanged.
	Raw json.RawMessage
	// Facts are facts from the rest of the document.
	Facts evidence.RegistryFacts
}

// UnknownNodeError says that the registry has no entry with the id.
type UnknownNodeError struct {
	ID   string
	Near []string // the ids that are most similar to it
	Size int      // entries in the registry
}

// Error implements error.
func (e *UnknownNodeError) Error() string {
	text := fmt.Sprintf("expected an entry with the id %q in the registry, got %s", e.ID, evidence.Count(e.Size, "other entry"))
	if len(e.Near) > 0 {
		text += fmt.Sprintf(" (hint: did you mean --node %s?)", strings.Join(e.Near, " or "))
	}
	return text
}

// problem returns the error as a problem with the flag --node.
func (e *UnknownNodeError) problem() *target.Problem {
	p := &target.Problem{
		Flag:    "--node",
		Message: fmt.Sprintf("%s is not in the registry, which has %s", strconv.Quote(evidence.Clip(e.ID, maxID)), evidence.Count(e.Size, "entry")),
		Hint:    "name the id of an entry, or give the node's URLs",
	}
	if len(e.Near) > 0 {
		p.Hint = "did you mean --node " + strings.Join(e.Near, " or ") + "?"
	}
	return p
}

// ErrNoRegistry says that the text is not a registry document.
var ErrNoRegistry = errors.New("expected a registry document: a JSON object with the array \"member\", or an array of entries")

// FindEntry returns the first entry with the id in a registry document: an object with the array "member", or an array of entries. It compares ids exactly,
// after it has removed blanks around them. The entry may lack URLs.
func FindEntry(registry []byte, id string) (RegistryEntry, error) {
	members, err := entries(registry)
	if err != nil {
		return RegistryEntry{}, err
	}
	id = strings.TrimSpace(id)
	var ids []string
	var entry *RegistryEntry
	for _, raw := range members {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil {
			continue // the requirements on the registry report it
		}
		found := trimmedText(fields["id"])
		if found == id && found != "" {
			same := RegistryEntry{ID: id, TokenURL: trimmedText(fields["oauth2"]), InfoURL: trimmedText(fields["info"]), Raw: raw}
			if entry == nil {
				same.Facts = evidence.RegistryFacts{Entries: len(members), Repeated: repeatedMembers(registry)}
				entry = &same
			} else if twins := &entry.Facts.Twins; len(*twins) < maxTwins {
				*twins = append(*twins, evidence.RegistryTwin{TokenURL: same.TokenURL, InfoURL: same.InfoURL})
			}
			continue
		}
		if found != "" && len(found) <= maxID && len(ids) < maxCompared && !slices.Contains(ids, found) {
			ids = append(ids, found)
		}
	}
	if entry != nil {
		return *entry, nil
	}
	return RegistryEntry{}, &UnknownNodeError{ID: id, Near: nearestIDs(id, ids), Size: len(members)}
}

// ReadEntries returns the entries of a registry document that have an id, in their order. Several may have the same id.
func ReadEntries(registry []byte) ([]RegistryEntry, error) {
	members, err := entries(registry)
	if err != nil {
		return nil, err
	}
	var out []RegistryEntry
	for _, raw := range members {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil {
			continue
		}
		if id := trimmedText(fields["id"]); id != "" {
			out = append(out, RegistryEntry{ID: id, TokenURL: trimmedText(fields["oauth2"]), InfoURL: trimmedText(fields["info"]), Raw: raw})
		}
	}
	return out, nil
}

// These bound the length in bytes of ids that are compared with an unknown one, the number of such ids, and the recorded entries with one id.
const (
	maxID       = 64
	maxCompared = 1000
	maxTwins    = 5
)

// repeatedMembers returns the names that the document itself has twice. It leaves out members of entries.
func repeatedMembers(registry []byte) []string {
	return slices.DeleteFunc(openapi.RepeatedMembers(registry), func(pointer string) bool { return strings.Count(pointer, "/") > 1 })
}

// Members returns the entries of a registry document unchanged, and the JSON Pointer of their array.
func Members(registry []byte) (members []json.RawMessage, pointer string, err error) {
	members, err = entries(registry)
	if err == nil && !bytes.HasPrefix(bytes.TrimSpace(registry), []byte("[")) {
		pointer = "/member"
	}
	return members, pointer, err
}

func entries(registry []byte) ([]json.RawMessage, error) {
	var bare []json.RawMessage
	if json.Unmarshal(registry, &bare) == nil {
		return bare, nil
	}
	var document map[string]json.RawMessage // exact names
	err := json.Unmarshal(registry, &document)
	if member, has := document["member"]; has && err == nil {
		err = json.Unmarshal(member, &bare)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNoRegistry, err)
	case bare == nil:
		return nil, ErrNoRegistry
	}
	return bare, nil
}

// trimmedText returns a string without blanks around it, and "" for other values.
func trimmedText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return strings.TrimSpace(text)
}

// maxSuggested is how many ids are suggested for an unknown one.
const maxSuggested = 3

// nearestIDs lists the ids with the least [distance] from the given one.
func nearestIDs(id string, ids []string) []string {
	slices.SortStableFunc(ids, func(a, b string) int { return distance(id, a) - distance(id, b) })
	return ids[:min(len(ids), maxSuggested)]
}

// distance counts insertions, deletions and replacements (Levenshtein). It ignores letter case.
func distance(a, b string) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	x = x[:min(len(x), maxID)]
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(y)]
}

// registryCases are the request for the registry, and requests to the URLs of the node's entry if the operator gave other URLs.
func registryCases() []row {
	return []row{
		{Label: "registry.ok", Plan: in("registry").onlyIf(func(n Node) bool {
			return n.Target.Registry != "" && len(n.Target.RegistryDocument) == 0
		})}, // [run.locate] sends it before everything else
		{
			Label: "entry/token.ok", Send: entryToken,
			Plan: in(stageTokens, stageToken).onceKnown(registryRead).onlyIf(func(n Node) bool { return isOtherOnOrigin(n.entry.TokenURL, n.Target.TokenURL) }),
		},
		{
			Label: "entry/info.ok", Send: entryInfo,
			Plan: in(stageRest, stageAuthorized.of(evidence.Info)).onceKnown(registryRead).onlyIf(func(n Node) bool { return isOtherOnOrigin(n.entry.InfoURL, n.Target.InfoURL) }),
		},
	}
}

// isOtherOnOrigin reports whether a recorded URL differs from the given one and has the same origin. Credentials are not sent to another origin, because it
// may be another environment.
func isOtherOnOrigin(recorded, given string) bool {
	a, errA := url.Parse(recorded)
	b, errB := url.Parse(given)
	return errA == nil && errB == nil && recorded != given && a.Host != "" && evidence.Origin(a) == evidence.Origin(b)
}

func entryToken(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	if r.current().Value == "" {
		return recorder.Request{}, unmet("the good token request yielded no token at the given URL either")
	}
	t := r.Target
	t.TokenURL = r.entry.TokenURL
	return TokenRequest(t, ClientSecret, Credentialed(t.Credentials)...), nil
}

func entryInfo(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	return r.authorized(ctx, Resource{Name: at, URL: r.entry.InfoURL, JSONType: true})
}
