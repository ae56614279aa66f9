package setup

import (
	"fmt"
	"strconv"
	"time"

	"github.com/rin-network/rin/fixtures/generate"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/flavour"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/problem"
)

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
		choice(r, n, "flavour", flavour.Names(), func(c *sandbox.Config, name string) { c.Flavour, _ = flavour.Find(name) }),
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
		choice(r, n, "error-shape", problem.Shapes(), func(c *sandbox.Config, s problem.Shape) { c.ErrorShape = s }),
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
