package setup

import (
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/registry"
)

// node reads an entry of nodes. What it leaves out is invented, as for [Many].
func (r *reader) node(v value, index int) node {
	n := node{index: index, member: registry.Invented(index), at: v}
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
