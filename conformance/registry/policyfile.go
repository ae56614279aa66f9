package registry

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/rin-network/rin/conformance/draw"
)

// Bounds of registry.yaml.
const (
	maxPolicy = 4 << 20
	maxFaults = 20
	day       = 24 * time.Hour
)

// keys says how the value of each key is read. The path leads to the value: nodes.XA.profile.
type keys map[string]func(v *yaml.Node, path string)

// reader reads a file and collects its mistakes, so that all are reported at once.
type reader struct {
	faults Faults
	at     map[string]*yaml.Node // the keys by their path
}

func (r *reader) fault(at *yaml.Node, path, expected, got, hint string) {
	if len(r.faults) < maxFaults {
		r.faults = append(r.faults, Fault{at.Line, path, expected, got, hint})
	}
}

// document returns the root mapping of a file. It is empty if the file has none.
func (r *reader) document(text []byte) *yaml.Node {
	empty := &yaml.Node{Kind: yaml.MappingNode, Line: 1}
	if len(text) > maxPolicy {
		r.fault(empty, "", fmt.Sprintf("at most %d bytes", maxPolicy), strconv.Itoa(len(text)), "")
		return empty
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		got := strings.TrimPrefix(err.Error(), "yaml: ")
		if at := regexp.MustCompile(`^line (\d+): (.*)`).FindStringSubmatch(got); at != nil {
			empty.Line, _ = strconv.Atoi(at[1])
			got = at[2]
		}
		r.fault(empty, "", "YAML", got, "")
		return empty
	}
	if len(root.Content) == 0 {
		return empty
	}
	return root.Content[0]
}

// mapping reads a mapping whose keys are known.
func (r *reader) mapping(v *yaml.Node, path string, known keys) {
	names := slices.Sorted(maps.Keys(known))
	r.each(v, path, func(name string, value *yaml.Node, at string) {
		if read, ok := known[name]; ok {
			read(value, at)
			return
		}
		hint := "the keys are " + strings.Join(names, ", ")
		if i := slices.IndexFunc(names, func(n string) bool { return isSimilar(n, name) }); i >= 0 {
			hint = "did you mean " + names[i] + "?"
		}
		r.fault(value, path, "a key that is known here", fmt.Sprintf("%.60q", name), hint)
	})
}

// each reads the members of a mapping, whatever their names are.
func (r *reader) each(v *yaml.Node, path string, read func(name string, value *yaml.Node, path string)) {
	if v.Kind != yaml.MappingNode {
		if v.Tag != "!!null" { // a key without a value is an empty mapping
			r.fault(v, path, "keys with values", kindOf(v), "")
		}
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(v.Content); i += 2 {
		k, value := v.Content[i], v.Content[i+1]
		if line, twice := seen[k.Value]; twice || k.Kind != yaml.ScalarNode {
			r.fault(k, path, "each key once", fmt.Sprintf("a second %.60q", k.Value), fmt.Sprintf("line %d has it already", line))
			continue
		}
		seen[k.Value] = k.Line
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		at := strings.TrimPrefix(path+"."+k.Value, ".")
		if r.at == nil {
			r.at = map[string]*yaml.Node{}
		}
		r.at[at] = k
		read(k.Value, value, at)
	}
}

// below returns a reader of a mapping within a mapping.
func (r *reader) below(known keys) func(*yaml.Node, string) {
	return func(v *yaml.Node, path string) { r.mapping(v, path, known) }
}

// need adds a fault if a key has no value, unless its value was refused already.
func (r *reader) need(root *yaml.Node, key, value, expected string) {
	if value == "" && !slices.ContainsFunc(r.faults, func(f Fault) bool { return f.Path == key }) {
		r.fault(root, key, expected, "nothing", "")
	}
}

// scalar returns a reader that passes the text of a value to convert. The error of convert describes a text that is not what was expected.
func (r *reader) scalar(expected string, convert func(text string) error) func(*yaml.Node, string) {
	return func(v *yaml.Node, path string) {
		if v.Kind != yaml.ScalarNode || v.Tag == "!!null" || strings.TrimSpace(v.Value) == "" {
			r.fault(v, path, expected, kindOf(v), "")
			return
		}
		if err := convert(strings.TrimSpace(v.Value)); err != nil {
			r.fault(v, path, expected, err.Error(), "")
		}
	}
}

// quoted returns an error that quotes a text.
func quoted(text string) error { return fmt.Errorf("%.60q", text) }

func (r *reader) text(into *string, expected string) func(*yaml.Node, string) {
	return r.scalar(expected, func(text string) error { *into = text; return nil })
}

func (r *reader) uri(into *string) func(*yaml.Node, string) {
	return r.scalar("a URL such as https://registry.example", func(text string) error {
		if u, err := url.Parse(text); err != nil || u.Scheme == "" || u.Host == "" || u.User != nil {
			return quoted(text)
		}
		*into = strings.TrimSuffix(text, "/")
		return nil
	})
}

// url reads the URL of a part of a node.
func (r *reader) url(into *string, expected string) func(*yaml.Node, string) {
	return r.scalar(expected+", such as https://api.example/…", func(text string) error {
		if u, err := url.Parse(text); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
			return quoted(text)
		}
		*into = text
		return nil
	})
}

// checkOrigin returns an error if a text is not an origin.
func checkOrigin(text string) error {
	if u, err := url.Parse(text); err != nil || u.Scheme == "" || u.Host == "" || strings.TrimSuffix(text, "/") != u.Scheme+"://"+u.Host {
		return quoted(text)
	}
	return nil
}

// checkClients adds a fault for each client without a secret, and each secret without a client. The defaults are for nodes that are not named, and may leave a
// part of a client to the nodes.
func (r *reader) checkClients(p *Policy) {
	for id, n := range p.Nodes {
		r.checkNodeClients("nodes."+id, n)
	}
	if len(p.Nodes) == 0 {
		r.checkNodeClients("defaults", p.Defaults)
	}
	slices.SortStableFunc(r.faults, func(a, b Fault) int { return a.Line - b.Line })
}

func (r *reader) checkNodeClients(path string, n NodePolicy) {
	for _, c := range []struct {
		id, secret string
		client     Client
	}{
		{"client-id", "client-secret", n.Client}, {"client-id2", "client-secret2", n.Second}, {"other-id", "other-secret", n.Other},
		{"spare-id", "spare-secret", n.Spare}, {"staging-id", "staging-secret", n.Staging},
	} {
		missing, given := c.id, c.secret
		if c.client.Secret == "" {
			missing, given = given, missing
		}
		refused := slices.ContainsFunc(r.faults, func(f Fault) bool { return strings.HasSuffix(f.Path, "."+missing) })
		if (c.client.ID == "") == (c.client.Secret == "") || refused {
			continue
		}
		at := cmp.Or(r.at[path+"."+given], r.at["defaults."+given], r.at[path])
		r.fault(at, path+"."+missing, "a value beside "+given, "nothing", "a client needs its id and the place of its secret")
	}
}

// duration reads what time.ParseDuration reads, and days: 365d.
func (r *reader) duration(into *time.Duration) func(*yaml.Node, string) {
	return r.scalar("a time such as 30d, 12h or 90s", func(text string) error {
		d, err := time.ParseDuration(text)
		if days, ok := strings.CutSuffix(text, "d"); ok {
			var n int
			n, err = strconv.Atoi(days)
			d = time.Duration(n) * day
			if n > 36500 {
				return quoted(text)
			}
		}
		if err != nil || d <= 0 {
			return quoted(text)
		}
		*into = d
		return nil
	})
}

// wait reads a time that may be zero.
func (r *reader) wait(into **time.Duration) func(*yaml.Node, string) {
	return r.scalar("a time such as 10m, or 0s", func(text string) error {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return quoted(text)
		}
		*into = &d
		return nil
	})
}

// waitOrOff returns a reader of a duration, which may be zero, or of the word "off", which switches the delayed check off.
func (r *reader) waitOrOff(into *CheckPolicy) func(*yaml.Node, string) {
	return r.scalar("a time such as 10m or 0s, or off", func(text string) error {
		if into.Off = text == "off"; into.Off {
			return nil
		}
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return quoted(text)
		}
		into.After = &d
		return nil
	})
}

func (r *reader) number(into *int, least, most int) func(*yaml.Node, string) {
	return r.scalar(fmt.Sprintf("a number between %d and %d", least, most), func(text string) error {
		n, err := strconv.Atoi(strings.TrimSuffix(text, "%"))
		if err != nil || n < least || n > most {
			return quoted(text)
		}
		*into = n
		return nil
	})
}

func (r *reader) choice(set func(string), words ...string) func(*yaml.Node, string) {
	return r.scalar("one of "+strings.Join(words, ", "), func(text string) error {
		if !slices.Contains(words, text) {
			return quoted(text)
		}
		set(text)
		return nil
	})
}

// hours reads hours in UTC such as 20:00-06:00.
func (r *reader) hours(into *Hours) func(*yaml.Node, string) {
	return r.scalar("hours in UTC such as 20:00-06:00", func(text string) error {
		from, to, _ := strings.Cut(text, "-")
		a, errA := time.Parse("15:04", from)
		b, errB := time.Parse("15:04", to)
		if errA != nil || errB != nil || a.Equal(b) {
			return quoted(text)
		}
		midnight := a.Truncate(day)
		*into = Hours{a.Sub(midnight), b.Sub(midnight)}
		return nil
	})
}

// secret reads the place of a secret. Its faults do not quote the value, which may be the secret itself.
func (r *reader) secret(into *string) func(*yaml.Node, string) {
	return r.scalar("a place: env:NAME, file:PATH or exec:COMMAND", func(text string) error {
		kind, rest, _ := strings.Cut(text, ":")
		if !slices.Contains([]string{"env", "file", "exec"}, kind) || strings.TrimSpace(rest) == "" {
			return fmt.Errorf("something else, which is not shown because it may be a secret")
		}
		*into = text
		return nil
	})
}

func (r *reader) texts(into *map[string]string, expected string) func(*yaml.Node, string) {
	return func(v *yaml.Node, path string) {
		*into = map[string]string{}
		r.each(v, path, func(name string, value *yaml.Node, at string) {
			r.scalar(expected, func(text string) error { (*into)[name] = text; return nil })(value, at)
		})
	}
}

func (r *reader) list(into *[]string, expected string, check func(string) error) func(*yaml.Node, string) {
	return func(v *yaml.Node, path string) {
		if v.Kind != yaml.SequenceNode {
			r.fault(v, path, "a list", kindOf(v), "")
			return
		}
		*into = nil
		for _, item := range v.Content {
			r.scalar(expected, func(text string) error { *into = append(*into, text); return check(text) })(item, path)
		}
	}
}

// node returns how the policy of a node is read.
func (r *reader) node(n *NodePolicy) keys {
	profiles := []string{"auth", "api", "funding", "full"}
	return keys{
		"profile":          r.choice(func(w string) { n.Profile = w }, profiles...),
		"effort":           r.choice(func(w string) { n.Effort = w }, string(draw.Standard), string(draw.Deep)),
		"client-id":        r.text(&n.Client.ID, "a client id"),
		"client-secret":    r.secret(&n.Client.Secret),
		"client-id2":       r.text(&n.Second.ID, "the id of a client without the role"),
		"client-secret2":   r.secret(&n.Second.Secret),
		"other-id":         r.text(&n.Other.ID, "the id of a client for another audience"),
		"other-secret":     r.secret(&n.Other.Secret),
		"spare-id":         r.text(&n.Spare.ID, "the id of a client that may be locked out"),
		"spare-secret":     r.secret(&n.Spare.Secret),
		"staging-url":      r.url(&n.StagingURL, "the token endpoint of the staging environment"),
		"staging-id":       r.text(&n.Staging.ID, "the id of a client of the staging environment"),
		"staging-secret":   r.secret(&n.Staging.Secret),
		"spec-url":         r.url(&n.SpecURL, "the URL of the OpenAPI document"),
		"base-url":         r.url(&n.BaseURL, "the URL below which the operations are"),
		"list-operation":   r.text(&n.ListOperation, "an operationId or a path"),
		"detail-operation": r.text(&n.DetailOperation, "an operationId or a path"),
		"origins":          r.list(&n.Origins, "an origin such as https://api.example", checkOrigin),
		"values":           r.texts(&n.Values, "a value"),
		"gaps":             r.texts(&n.Gaps, "a reason"),
		"polite":           r.choice(func(w string) { n.Polite = w == "true" }, "true", "false"),
		"blind":            r.choice(func(w string) { n.Blind = new(w == "true") }, "true", "false"),
		"rate": r.scalar("requests a second, above 0", func(text string) (err error) {
			if n.Rate, err = strconv.ParseFloat(text, 64); err != nil || !(n.Rate > 0) {
				return quoted(text)
			}
			return nil
		}),
		"concurrency": r.number(&n.Concurrency, 1, 64),
		"timeout":     r.duration(&n.Timeout),
		"deadline":    r.duration(&n.Deadline),
		"wait":        r.wait(&n.Wait),
		"skip":        r.text(&n.Skip, "a reason"),
		"withdrawn":   r.text(&n.Withdrawn, "a reason"),
	}
}

func kindOf(v *yaml.Node) string {
	switch {
	case v.Kind == yaml.MappingNode:
		return "a mapping"
	case v.Kind == yaml.SequenceNode:
		return "a list"
	case v.Tag == "!!null", strings.TrimSpace(v.Value) == "":
		return "nothing"
	}
	return "a value"
}

// isSimilar reports whether a key is one edit away from a known one, or the same but for hyphens, underscores and case.
func isSimilar(known, name string) bool {
	plain := func(s string) string { return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(s)) }
	a, b := plain(known), plain(name)
	if len(a) < len(b) {
		a, b = b, a
	}
	prefix := 0
	for prefix < len(b) && a[prefix] == b[prefix] {
		prefix++
	}
	return a == b || len(a)-len(b) <= 1 && len(b) > 2 && (a[prefix+1:] == b[prefix:] || a[prefix+1:] == b[min(prefix+1, len(b)):])
}
