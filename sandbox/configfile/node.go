package configfile

import (
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

// node reads an entry of nodes. What it leaves out is invented, as for [Many].
func (r *reader) node(v value, index int) node {
	n := node{index: index, member: funding.InventedMember(index), at: v}
	id, rooted := n.member.ID, false
	n.member.ID = ""
	keys := append(r.memberKeys(&n), key{name: "root", read: func(v value) {
		if text, ok := r.text(v, expectedRoot); ok {
			text = strings.TrimSuffix(text, "/")
			if err := (sandbox.Config{Root: text}).Validate(); err != nil {
				r.fault(v, expectedRoot, quoted(text), "")
			}
			n.root, rooted = text, true
		}
	}})
	var api sandbox.APIConfig
	r.mapping(v, slices.Concat(keys, r.settings(&n), r.apiKeys(&api)), func(name string) string {
		if slices.Contains([]string{"secret", "subject", "role", "affiliation"}, name) {
			return "it is said of a client: put it below an entry of clients"
		}
		return r.belongsAbove(name)
	})
	switch {
	case api.File != "":
		n.set = append(n.set, func(c *sandbox.Config) { c.API = api })
	case api != sandbox.APIConfig{}:
		r.fault(v, "spec, the file of an OpenAPI document, beside items, lists and open", "none", "")
	}
	if n.member.ID == "" {
		n.member.ID = id
	}
	if !rooted && index > 0 {
		n.root = "/" + code(n.member.ID)
	}
	return n
}

const expectedRoot = "a path, such as /xb"

// belongsAbove says of a key that no node has whether it is one of the sandbox.
func (r *reader) belongsAbove(name string) string {
	if _, known := r.option(name); known {
		return "it is said of the sandbox as a whole: put it at the top"
	}
	return ""
}

// nodeKeys are the keys that only a node has.
func nodeKeys() []string {
	return []string{"id", "name", "acronym", "contact", "root", "clients", "issuers"}
}

// memberKeys are those of the registry entry.
func (r *reader) memberKeys(n *node) []key {
	into := func(name, expected string, to *string, good func(string) bool) key {
		return key{name: name, read: func(v value) {
			text, ok := r.text(v, expected)
			switch {
			case !ok:
			case !good(text):
				r.fault(v, expected, quoted(text), "")
			default:
				*to = text
			}
		}}
	}
	some := func(text string) bool { return strings.TrimSpace(text) != "" }
	return []key{
		into("id", "a member id of letters, digits and _, such as XB", &n.member.ID, func(id string) bool {
			return code(id) != "" && len(id) <= 32 && strings.Trim(id, "-_.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
		}),
		into("name", "the name of an institution", &n.member.Name, some),
		into("acronym", "the acronym of an institution", &n.member.Acronym, some),
		into("contact", "an e-mail address", &n.member.Contact, func(text string) bool {
			name, host, found := strings.Cut(text, "@")
			return found && some(name) && some(host) && !strings.Contains(text, " ")
		}),
	}
}

// settings are the keys that have the names of flags, and the accounts.
func (r *reader) settings(n *node) []key {
	set := func(name, expected string, read func(text string) (func(*sandbox.Config), error)) key {
		return key{name: name, read: func(v value) {
			if text, ok := r.text(v, expected); ok {
				r.setting(n, v, expected, text, read)
			}
		}}
	}
	return []key{
		set("prefix", "path segments, such as ris-synergy", func(text string) (func(*sandbox.Config), error) {
			return func(c *sandbox.Config) { c.Prefix = text }, some(text)
		}),
		set("realm", "one path segment, such as ris", func(text string) (func(*sandbox.Config), error) {
			return func(c *sandbox.Config) { c.Realm = text }, some(text)
		}),
		choice(r, n, "flavour", sandbox.PresetNames(), func(c *sandbox.Config, name string) { c.Flavour, _ = sandbox.FindPreset(name) }),
		set("seed", "a number from 0", func(text string) (func(*sandbox.Config), error) {
			seed, err := strconv.ParseUint(text, 10, 64)
			return func(c *sandbox.Config) { c.Seed = seed }, err
		}),
		set("calls", fmt.Sprintf("a number from 1 to %d", generate.MaxCalls), func(text string) (func(*sandbox.Config), error) {
			calls, err := strconv.Atoi(text)
			if err == nil && (calls < 1 || calls > generate.MaxCalls) {
				err = strconv.ErrRange
			}
			return func(c *sandbox.Config) { c.Calls = calls }, err
		}),
		set("as-of", "a day from 1970 to 9000, such as 2026-03-01", func(text string) (func(*sandbox.Config), error) {
			day, err := time.Parse(time.DateOnly, text)
			if err == nil && (day.Year() < 1970 || day.Year() > 9000) {
				err = strconv.ErrRange
			}
			return func(c *sandbox.Config) { c.AsOf = day }, err
		}),
		set("token-ttl", "a time of one second or more, such as 5m", func(text string) (func(*sandbox.Config), error) {
			ttl, err := time.ParseDuration(text)
			if err == nil && ttl < time.Second {
				err = strconv.ErrRange
			}
			return func(c *sandbox.Config) { c.TokenTTL = ttl }, err
		}),
		choice(r, n, "token-format", auth.Formats(), func(c *sandbox.Config, f auth.Format) { c.TokenFormat = f }),
		choice(r, n, "paging", []funding.Paging{funding.PagingOffset, funding.PagingNumber}, func(c *sandbox.Config, p funding.Paging) { c.Paging = p }),
		choice(r, n, "error-shape", content.ErrorShapes(), func(c *sandbox.Config, s content.ErrorShape) { c.ErrorShape = s }),
		{name: "deviate", read: func(v value) { r.deviations(n, v) }},
		{name: "scenario", read: func(v value) { r.scenarios(n, v) }},
		{name: "clients", read: func(v value) { r.clients(n, v) }},
		{name: "issuers", read: func(v value) { r.issuers(n, v) }},
	}
}

// some refuses an empty text, which a flag takes for its default.
func some(text string) error {
	if text == "" {
		return strconv.ErrSyntax
	}
	return nil
}

// setting reads the text of a setting, and lets the sandbox check it alone.
func (r *reader) setting(n *node, v value, expected, text string, read func(text string) (func(*sandbox.Config), error)) {
	set, err := read(text)
	if err == nil {
		var alone sandbox.Config
		set(&alone)
		err = alone.Validate()
	}
	if err != nil {
		r.fault(v, expected, quoted(text), "")
		return
	}
	n.set = append(n.set, set)
}

// choice is a setting that is one of several names.
func choice[T ~string](r *reader, n *node, name string, allowed []T, set func(*sandbox.Config, T)) key {
	var names []string
	for _, a := range allowed {
		names = append(names, string(a))
	}
	return r.oneOf(name, names, func(chosen string) {
		n.set = append(n.set, func(c *sandbox.Config) { set(c, T(chosen)) })
	})
}

// deviations reads the names of deviations, a list of them or one alone.
func (r *reader) deviations(n *node, v value) {
	const expected = "the name of a deviation"
	var names []string
	r.oneOrMore(v, "deviations", func(item value, _ int) {
		text, ok := r.text(item, expected)
		if !ok {
			return
		}
		d, err := fault.FindDeviation(text)
		if err == nil && d.Transport != nil && n.index > 0 {
			r.fault(item, "a deviation of requests", quoted(text)+", which is of connections", "all nodes have those of the first one: name it there")
			return
		}
		if err != nil {
			var known []string
			for _, d := range slices.Concat(fault.Deviations(), fault.Habits()) {
				known = append(known, d.Name)
			}
			r.fault(item, expected, quoted(text), hinted(suggestion(text, known), "rin sandbox --deviations lists them"))
			return
		}
		names = append(names, text)
	})
	n.set = append(n.set, func(c *sandbox.Config) { c.Deviations = names })
}

// scenarios reads what is played from the start: as the flag has it, or by keys.
func (r *reader) scenarios(n *node, v value) {
	const expected = "a scenario, NAME or NAME:client=ID:path=PATH:times=N:wait=DURATION, or its keys"
	var plays []fault.Play
	r.oneOrMore(v, "scenarios", func(item value, _ int) {
		if item.node.Kind == yaml.MappingNode {
			plays = append(plays, r.play(item))
			return
		}
		text, ok := r.text(item, expected)
		if !ok {
			return
		}
		play, err := fault.ParsePlay(text)
		if err != nil {
			r.fault(item, expected, quoted(text), err.Error())
			return
		}
		plays = append(plays, play)
	})
	n.set = append(n.set, func(c *sandbox.Config) { c.Scenarios = plays })
}

// play reads a scenario by its keys.
func (r *reader) play(v value) (p fault.Play) {
	names := fault.ScenarioNames()
	r.mapping(v, []key{
		{name: "name", required: true, expected: "the name of a scenario", read: func(v value) {
			text, ok := r.text(v, "the name of a scenario")
			if ok && !slices.Contains(names, text) {
				r.fault(v, "the name of a scenario", quoted(text), hinted(suggestion(text, names), "rin sandbox --scenarios lists them"))
				return
			}
			p.Name = text
		}},
		r.into("client", "a client id", &p.Client),
		r.into("path", "a path, or a kind such as token", &p.Path),
		r.number("times", 1, fault.MaxTimes, &p.Times),
		{name: "wait", read: func(v value) {
			expected := fmt.Sprintf("a time of at most %s, such as 1s", fault.MaxWait)
			text, ok := r.text(v, expected)
			wait, err := time.ParseDuration(text)
			if ok && (err != nil || wait < 0 || wait > fault.MaxWait) {
				r.fault(v, expected, quoted(text), "")
				return
			}
			p.Wait = wait
		}},
	}, r.belongsAbove)
	return p
}

// apiKeys are about an API that the node serves from its document, by the names of the flags.
func (r *reader) apiKeys(api *sandbox.APIConfig) []key {
	names := make([]string, 0, len(mockapi.AllLists()))
	for _, l := range mockapi.AllLists() {
		names = append(names, string(l))
	}
	return []key{
		r.into("spec", "the file of an OpenAPI document", &api.File),
		r.number("items", 1, mockapi.MaxItems, &api.Items),
		r.oneOf("lists", names, func(name string) { api.Lists = mockapi.Lists(name) }),
		{name: "open", read: func(v value) {
			const expected = "true or false"
			if text, ok := r.text(v, expected); ok {
				open, err := strconv.ParseBool(text)
				if err != nil {
					r.fault(v, expected, quoted(text), "")
				}
				api.Open = open
			}
		}},
	}
}

// hinted is a hint, or another where there is none.
func hinted(hint, otherwise string) string {
	if hint == "" {
		return otherwise
	}
	return hint
}
