package configfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/rin-network/rin/fixtures/generate"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/fault"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/mockapi"
)

// nodeEntry is an entry of nodes as the file has it.
type nodeEntry struct {
	ID      value `yaml:"id"`
	Name    value `yaml:"name"`
	Acronym value `yaml:"acronym"`
	Contact value `yaml:"contact"`
	Root    value `yaml:"root"`

	// The following keys have the names of flags.
	Prefix      value `yaml:"prefix"`
	Realm       value `yaml:"realm"`
	Preset      value `yaml:"flavour"`
	Seed        value `yaml:"seed"`
	Calls       value `yaml:"calls"`
	AsOf        value `yaml:"as-of"`
	TokenTTL    value `yaml:"token-ttl"`
	TokenFormat value `yaml:"token-format"`
	Paging      value `yaml:"paging"`
	ErrorShape  value `yaml:"error-shape"`
	Deviate     value `yaml:"deviate"`
	Scenario    value `yaml:"scenario"`

	Clients value `yaml:"clients"`
	Issuers value `yaml:"issuers"`

	Spec  value `yaml:"spec"`
	Items value `yaml:"items"`
	Lists value `yaml:"lists"`
	Open  value `yaml:"open"`

	Examples value `yaml:"examples"`
	State    value `yaml:"state"`
}

// playEntry is a scenario that the file writes as a mapping.
type playEntry struct {
	Name   value `yaml:"name"`
	Client value `yaml:"client"`
	Path   value `yaml:"path"`
	Method value `yaml:"method"`
	Times  value `yaml:"times"`
	Wait   value `yaml:"wait"`
	Jitter value `yaml:"jitter"`
	After  value `yaml:"after"`
	Every  value `yaml:"every"`
	Rate   value `yaml:"rate"`
	Status value `yaml:"status"`
	Body   value `yaml:"body"`
}

// nodeOnlyKeys lists the keys of a node for which there is no flag.
func nodeOnlyKeys() []string {
	return []string{"id", "name", "acronym", "contact", "root", "clients", "issuers"}
}

// node is one entry of nodes after it was read.
type node struct {
	index  int
	member funding.Member
	root   string
	// changes are the settings of the node, as changes of the configuration that all nodes share.
	changes []func(*sandbox.Config)
	at      value // the entry in the file
}

// node reads an entry of nodes. Values that it leaves out are invented, as for [Nodes].
func (r *reader) node(v value, index int) node {
	n := node{index: index, member: funding.InventedMember(index), at: v}
	var e nodeEntry
	r.decode(v, &e, func(name string) string {
		if slices.Contains([]string{"secret", "subject", "role", "affiliation"}, name) {
			return "it belongs to a client: put it below an entry of clients"
		}
		return r.topKeyHint(name)
	})
	r.member(e, &n.member)
	const expectedRoot = "a path, such as /xb"
	if root, ok := r.text(e.Root, expectedRoot); ok {
		n.root = strings.TrimSuffix(root, "/")
		if (sandbox.Config{Root: n.root}).Validate() != nil {
			r.addFault(e.Root, expectedRoot, quote(n.root), "")
		}
	} else if index > 0 {
		n.root = "/" + segment(n.member.ID)
	}
	r.settings(e, &n)
	r.clients(e.Clients, &n)
	r.issuers(e.Issuers, &n)
	switch api := r.api(e); {
	case api.File != "":
		n.changes = append(n.changes, func(c *sandbox.Config) { c.API = api })
	case api != sandbox.APIConfig{}:
		r.addFault(v, "spec, the file of an OpenAPI document, beside items, lists, examples, state and open", "none", "")
	}
	return n
}

// topKeyHint returns a hint for a key that belongs to the sandbox and not to a node; "" for other keys.
func (r *reader) topKeyHint(name string) string {
	if _, known := r.option(name); known {
		return "it belongs to the sandbox as a whole: put it at the top"
	}
	return ""
}

// member reads what the registry lists about a node.
func (r *reader) member(e nodeEntry, m *funding.Member) {
	read := func(v value, to *string, expected string, isGood func(string) bool) {
		text, ok := parseText(r, v, expected, func(text string) (string, error) {
			if !isGood(text) {
				return "", strconv.ErrSyntax
			}
			return text, nil
		})
		if ok {
			*to = text
		}
	}
	isNonBlank := func(text string) bool { return strings.TrimSpace(text) != "" }
	read(e.ID, &m.ID, "a member id of letters, digits and _, such as XB", func(id string) bool {
		return segment(id) != "" && len(id) <= 32 && strings.Trim(id, "-_.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
	})
	read(e.Name, &m.Name, "the name of an institution", isNonBlank)
	read(e.Acronym, &m.Acronym, "the acronym of an institution", isNonBlank)
	read(e.Contact, &m.Contact, "an e-mail address", func(text string) bool {
		name, host, found := strings.Cut(text, "@")
		return found && isNonBlank(name) && isNonBlank(host) && !strings.Contains(text, " ")
	})
}

// settings reads the keys that have the names of flags.
func (r *reader) settings(e nodeEntry, n *node) {
	setting(r, n, e.Prefix, "path segments, such as ris-synergy", parseNonEmpty, func(c *sandbox.Config) *string { return &c.Prefix })
	setting(r, n, e.Realm, "one path segment, such as ris", parseNonEmpty, func(c *sandbox.Config) *string { return &c.Realm })
	if name, ok := oneOf(r, e.Preset, sandbox.PresetNames()); ok {
		n.changes = append(n.changes, func(c *sandbox.Config) { c.Preset, _ = sandbox.FindPreset(name) })
	}
	setting(r, n, e.Seed, "a number from 0", func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) },
		func(c *sandbox.Config) *uint64 { return &c.Seed })
	setting(r, n, e.Calls, fmt.Sprintf("a number from 1 to %d", generate.MaxCalls), parseNumber(1, generate.MaxCalls),
		func(c *sandbox.Config) *int { return &c.Calls })
	setting(r, n, e.AsOf, "a day from 1970 to 9000, such as 2026-03-01", parseDay, func(c *sandbox.Config) *time.Time { return &c.AsOf })
	setting(r, n, e.TokenTTL, "a time of one second or more, such as 5m", func(text string) (time.Duration, error) {
		ttl, err := time.ParseDuration(text)
		if ttl < time.Second {
			return 0, cmp.Or(err, error(strconv.ErrRange))
		}
		return ttl, err
	}, func(c *sandbox.Config) *time.Duration { return &c.TokenTTL })
	choice(r, n, e.TokenFormat, auth.Formats(), func(c *sandbox.Config) *auth.Format { return &c.TokenFormat })
	choice(r, n, e.Paging, []funding.Paging{funding.PagingOffset, funding.PagingNumber}, func(c *sandbox.Config) *funding.Paging { return &c.Paging })
	choice(r, n, e.ErrorShape, content.ErrorShapes(), func(c *sandbox.Config) *content.ErrorShape { return &c.ErrorShape })
	r.deviations(e.Deviate, n)
	r.scenarios(e.Scenario, n)
}

// setting reads a setting, and lets the sandbox validate it in a configuration that has no other setting.
func setting[T any](r *reader, n *node, v value, expected string, parse func(text string) (T, error), field func(*sandbox.Config) *T) {
	result, ok := parseText(r, v, expected, func(text string) (T, error) {
		result, err := parse(text)
		if err != nil {
			return result, err
		}
		var alone sandbox.Config
		*field(&alone) = result
		return result, alone.Validate()
	})
	if ok {
		n.changes = append(n.changes, func(c *sandbox.Config) { *field(c) = result })
	}
}

// choice reads a setting that is one of several names.
func choice[T ~string](r *reader, n *node, v value, allowed []T, field func(*sandbox.Config) *T) {
	if chosen, ok := oneOf(r, v, allowed); ok {
		n.changes = append(n.changes, func(c *sandbox.Config) { *field(c) = chosen })
	}
}

// parseNonEmpty refuses an empty text, because an empty setting would mean the default.
func parseNonEmpty(text string) (string, error) {
	if text == "" {
		return "", strconv.ErrSyntax
	}
	return text, nil
}

func parseDay(text string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, text)
	if err == nil && (day.Year() < 1970 || day.Year() > 9000) {
		err = strconv.ErrRange
	}
	return day, err
}

// deviations reads one name of a deviation, or a list of names.
func (r *reader) deviations(v value, n *node) {
	if !v.isPresent() {
		return
	}
	const expected = "the name of a deviation"
	var names []string
	for _, item := range r.oneOrMore(v, "deviations") {
		text, ok := r.text(item, expected)
		if !ok {
			continue
		}
		d, err := fault.FindDeviation(text)
		switch {
		case err != nil:
			r.addFault(item, expected, quote(text), cmp.Or(suggestion(text, fault.DeviationNames()), "rin sandbox --deviations lists them"))
		case d.Transport != nil && n.index > 0:
			r.addFault(item, "a deviation of requests", quote(text)+", a deviation of connections", "all nodes share the connections of the first node: name it there")
		default:
			names = append(names, text)
		}
	}
	n.changes = append(n.changes, func(c *sandbox.Config) { c.Deviations = names })
}

// scenarios reads the scenarios that the node plays from the start. Each is a text as for the flag, or a mapping.
func (r *reader) scenarios(v value, n *node) {
	if !v.isPresent() {
		return
	}
	const expected = "a scenario, NAME or NAME:client=ID:path=PATH:times=N:wait=DURATION, or its keys"
	var plays []fault.Play
	for _, item := range r.oneOrMore(v, "scenarios") {
		if item.node.Kind == yaml.MappingNode {
			plays = append(plays, r.play(item))
			continue
		}
		text, ok := r.text(item, expected)
		if !ok {
			continue
		}
		play, err := fault.ParsePlay(text)
		if err != nil {
			r.addFault(item, expected, quote(text), err.Error())
			continue
		}
		plays = append(plays, play)
	}
	n.changes = append(n.changes, func(c *sandbox.Config) { c.Scenarios = plays })
}

// play reads a scenario from a mapping.
func (r *reader) play(v value) fault.Play {
	const expected = "the name of a scenario"
	var e playEntry
	r.decode(v, &e, r.topKeyHint)
	var p fault.Play
	if text, ok := r.text(e.Name, expected); ok {
		if names := fault.ScenarioNames(); !slices.Contains(names, text) {
			r.addFault(e.Name, expected, quote(text), cmp.Or(suggestion(text, names), "rin sandbox --scenarios lists them"))
		}
		p.Name = text
	}
	p.Client = r.nonEmpty(e.Client, "a client id")
	p.Path = r.nonEmpty(e.Path, "a path, or a kind such as token")
	p.Times = r.number(e.Times, 1, fault.MaxTimes)
	p.Wait, _ = parseText(r, e.Wait, fmt.Sprintf("a time of at most %s, such as 1s", fault.MaxWait), func(text string) (time.Duration, error) {
		wait, err := time.ParseDuration(text)
		if err == nil && (wait < 0 || wait > fault.MaxWait) {
			err = errors.New("out of range")
		}
		return wait, err
	})
	for _, option := range []struct {
		name, expected string
		value          value
	}{
		{"method", "a method such as GET", e.Method}, {"jitter", "a time such as 50ms", e.Jitter}, {"after", "a number", e.After}, {"every", "a number", e.Every},
		{"rate", "a part such as 10%", e.Rate}, {"status", "a status from 200 to 599", e.Status}, {"body", "a text", e.Body},
	} {
		_, _ = parseText(r, option.value, option.expected, func(text string) (string, error) { return text, p.Set(option.name, text) })
	}
	r.require(v, e.Name, "name", expected)
	return p
}

// api reads the settings of an API that the node serves from an OpenAPI document.
func (r *reader) api(e nodeEntry) sandbox.APIConfig {
	lists, _ := oneOf(r, e.Lists, mockapi.AllLists())
	examples, _ := oneOf(r, e.Examples, mockapi.AllExamples())
	state, _ := parseText(r, e.State, "true or false", strconv.ParseBool)
	open, _ := parseText(r, e.Open, "true or false", strconv.ParseBool)
	return sandbox.APIConfig{
		File:  r.nonEmpty(e.Spec, "the file of an OpenAPI document"),
		Items: r.number(e.Items, 1, mockapi.MaxItems),
		Lists: lists, Examples: examples, State: state, Open: open,
	}
}
