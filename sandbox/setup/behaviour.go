package setup

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/described"
	"github.com/rin-network/rin/sandbox/deviation"
	"github.com/rin-network/rin/sandbox/scenario"
)

// deviations reads the names of deviations, a list of them or one alone.
func (r *reader) deviations(n *node, v value) {
	const expected = "the name of a deviation"
	var names []string
	r.oneOrMore(v, "deviations", func(item value, _ int) {
		text, ok := r.text(item, expected)
		if !ok {
			return
		}
		d, err := deviation.Find(text)
		if err == nil && d.Transport != nil && n.index > 0 {
			r.fault(item, "a deviation of requests", quoted(text)+", which is of connections", "all nodes have those of the first one: name it there")
			return
		}
		if err != nil {
			var known []string
			for _, d := range slices.Concat(deviation.All(), deviation.Benign()) {
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
	var plays []scenario.Play
	r.oneOrMore(v, "scenarios", func(item value, _ int) {
		if item.node.Kind == yaml.MappingNode {
			plays = append(plays, r.play(item))
			return
		}
		text, ok := r.text(item, expected)
		if !ok {
			return
		}
		play, err := scenario.Parse(text)
		if err != nil {
			r.fault(item, expected, quoted(text), err.Error())
			return
		}
		plays = append(plays, play)
	})
	n.set = append(n.set, func(c *sandbox.Config) { c.Scenarios = plays })
}

// play reads a scenario by its keys.
func (r *reader) play(v value) (p scenario.Play) {
	names := scenario.Names()
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
		r.number("times", 1, scenario.MaxTimes, &p.Times),
		{name: "wait", read: func(v value) {
			expected := fmt.Sprintf("a time of at most %s, such as 1s", scenario.MaxWait)
			text, ok := r.text(v, expected)
			wait, err := time.ParseDuration(text)
			if ok && (err != nil || wait < 0 || wait > scenario.MaxWait) {
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
	names := make([]string, 0, len(described.AllLists()))
	for _, l := range described.AllLists() {
		names = append(names, string(l))
	}
	return []key{
		r.into("spec", "the file of an OpenAPI document", &api.File),
		r.number("items", 1, described.MaxItems, &api.Items),
		r.oneOf("lists", names, func(name string) { api.Lists = described.Lists(name) }),
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
