package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"regexp"
)

// Dir is the directory of an operator, as rin registry init makes it:
//
//	registry.yaml          the policy
//	operator.key, .pub     the key that signs, and the public key to hand out
//	history.db             what the nights showed
//	parts/                 the histories of shards, until they are merged
//	nodes/NODE/NIGHT/      the files of a run: the last, the last good one, and each that changed something
//	admissions/NODE.json   how far an admission came
//	pages/                 what can be published: certificates, marks, badges, the status list, the pages
type Dir string

// The files of a directory.
func (d Dir) Policy() string    { return filepath.Join(string(d), "registry.yaml") }
func (d Dir) Key() string       { return filepath.Join(string(d), "operator.key") }
func (d Dir) PublicKey() string { return filepath.Join(string(d), "operator.pub") }
func (d Dir) History() string   { return filepath.Join(string(d), "history.db") }
func (d Dir) Parts() string     { return filepath.Join(string(d), "parts") }
func (d Dir) Pages() string     { return filepath.Join(string(d), "pages") }

// StatusList returns the signed list of what is valid.
func (d Dir) StatusList() string { return filepath.Join(d.Pages(), "status.jwt") }

// NodeDir returns the directory of the runs of a node.
func (d Dir) NodeDir(id string) string { return filepath.Join(string(d), "nodes", FileName(id)) }

// RunDir returns the directory with the files of a node's run in a night. [Outcome.Evidence] says whether it is kept.
func (d Dir) RunDir(id string, night Night) string {
	return filepath.Join(d.NodeDir(id), string(night))
}

// Admission returns the file that says how far an admission came.
func (d Dir) Admission(id string) string {
	return filepath.Join(string(d), "admissions", FileName(id)+".json")
}

// Public returns the directory below the pages with what is published about a node: certificate.intoto.json, mark.jwt, badge.svg.
func (d Dir) Public(id string) string { return filepath.Join(d.Pages(), "nodes", FileName(id)) }

// FileName returns a name for the files of a node. An id comes from the registry document, which may hold anything: an id that is not plain is hashed.
func FileName(id string) string {
	if regexp.MustCompile(`^[A-Z0-9][A-Z0-9_-]{0,63}$`).MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "id-" + hex.EncodeToString(sum[:16])
}
