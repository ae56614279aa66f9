package main

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/registry"
	"github.com/rin-network/rin/conformance/report"
)

// This file reads the input of rin verify, and prints the nodes that a statement is about.

// readInput reads the files at path. folder is the folder of the files inside an archive; "" if path is not an archive, "." if the files are at its top.
func (v verifyFlags) readInput(w environment, path string) (in certificate.Input, folder string, err error) {
	in = certificate.Input{RequireSignature: v.requireSignature || v.key != "", Suite: version()}
	if v.key != "" {
		text, err := w.readFile(v.key)
		if err != nil {
			return in, "", usage(fmt.Errorf("--key: %w", err), "name the file of the public key")
		}
		if in.Key, err = certificate.ReadPublicKey(text); err != nil {
			return in, "", usage(fmt.Errorf("--key: %s: %w", v.key, err), "name the file of the public key, such as operator.pub")
		}
	}
	if v.registry != "" {
		d, err := readRegistryFile(w, v.registry)
		if err != nil {
			return in, "", err
		}
		in.Registry = d.Text
	}
	info, err := os.Stat(path)
	if err != nil {
		return in, "", usage(err, "name the directory that rin certify left, or a claim or evidence in it")
	}
	if published := filepath.Join(path, certificate.CertificateFile); info.IsDir() && exists(published) && !exists(filepath.Join(path, certificate.EvidenceFile)) {
		err = inputAlone(&in, published) // as on the pages of a registry
		return in, "", err
	}
	if info.IsDir() {
		err = inputDir(&in, path, certificate.CertificateFile, certificate.ClaimFile)
		return in, "", err
	}
	if name := filepath.Base(path); strings.HasSuffix(name, ".intoto.json") {
		if !exists(filepath.Join(filepath.Dir(path), certificate.EvidenceFile)) {
			err = inputAlone(&in, path)
			return in, "", err
		}
		err = inputDir(&in, filepath.Dir(path), name)
		return in, "", err
	}
	content, err := certificate.ReadBounded(path)
	switch {
	case err != nil:
		return in, "", usage(err, "name a file that can be read")
	case certificate.IsArchive(content):
		a, err := certificate.ReadArchive(content, version())
		if err != nil {
			return in, "", usage(fmt.Errorf("%s: %w", path, err), "unpack it into a folder of its own, and name the folder with "+certificate.EvidenceFile)
		}
		in.Files, in.Envelope = a.Files, a.Envelope
		return in, report.Plain(a.Folder), nil
	case isOtherArchive(path):
		return in, "", usage(fmt.Errorf("%s: expected a folder or a ZIP archive, got another archive", path),
			fmt.Sprintf("unpack it into a folder of its own (mkdir run && tar -xf %s -C run), and name the folder with %s", evidence.ShellWord(path), certificate.EvidenceFile))
	}
	in.Files = []certificate.File{{Name: certificate.EvidenceFile, Content: content}}
	return in, "", nil
}

// isOtherArchive reports whether a file that is not a ZIP archive has the name of an archive.
func isOtherArchive(path string) bool {
	return slices.ContainsFunc([]string{".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst", ".7z", ".rar", ".zip"}, func(end string) bool { return strings.HasSuffix(strings.ToLower(path), end) })
}

// inputAlone reads an envelope without the files of its run.
func inputAlone(in *certificate.Input, path string) error {
	content, err := certificate.ReadBounded(path)
	if err != nil {
		return usage(err, "name a file that can be read")
	}
	in.Alone, in.Envelope = true, certificate.File{Name: filepath.Base(path), Content: content}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// inputDir reads the run in dir, and the first file of envelopes that exists there.
func inputDir(in *certificate.Input, dir string, envelopes ...string) error {
	var err error
	if in.Files, err = readRun(dir); err != nil {
		return err
	}
	for _, name := range envelopes {
		content, err := certificate.ReadBounded(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return usage(err, "name a file that can be read")
		}
		in.Envelope = certificate.File{Name: name, Content: content}
		break
	}
	return nil
}

// runOf returns the run at path, for a test of the node.
func runOf(in certificate.Input, path, folder string) (run certificate.Run, err error) {
	switch info, statErr := os.Stat(path); {
	case folder != "":
		run, err = certificate.ParseRun(in.Files)
	case statErr == nil && !info.IsDir():
		run, err = certificate.ReadRun(filepath.Dir(path), version())
	default:
		run, err = certificate.ReadRun(path, version())
	}
	if err != nil {
		return run, usage(err, "name the directory that rin certify left")
	}
	return run, nil
}

// markFile is the name of a trust mark on the pages of a registry.
const markFile = "mark.jwt"

// trustMarkExpiry returns the time until which the trust mark beside a certificate is valid; "" unless that mark is for the same node, signed by the same
// key, and valid now.
func trustMarkExpiry(path string, a certificate.About, key ed25519.PublicKey, now time.Time) string {
	dir := path
	if at, err := os.Stat(path); err == nil && !at.IsDir() {
		dir = filepath.Dir(path)
	}
	text, err := certificate.ReadBounded(filepath.Join(dir, markFile))
	if err != nil {
		return ""
	}
	m, err := certificate.ReadMark(strings.TrimSpace(string(text)), key, now)
	if err != nil || m.Subject != a.InfoURL {
		return ""
	}
	return m.Expires.Format(time.RFC3339)
}

// maxListedNodes bounds the nodes of a status list that are printed. --json lists all.
const maxListedNodes = 100

// writeAbout prints the nodes that a statement is about, and until when the statement is valid.
func writeAbout(out io.Writer, r certificate.Verification, in certificate.Input) {
	if r.State() == certificate.Broken {
		return
	}
	isList := !in.Alone && len(in.Files) == 1 && in.Envelope.Content == nil
	for i, a := range r.About {
		switch {
		case i == maxListedNodes:
			fmt.Fprintf(out, "  and %d more; --json lists all\n", len(r.About)-i)
			return
		case strings.HasPrefix(r.StatementText, "a trust mark"): // its words say all
		case isList:
			fmt.Fprintf(out, "  %s\n", a)
		default:
			fmt.Fprintf(out, "it names the node %s\n", a)
		}
	}
	switch {
	case !in.Alone:
	case len(r.About) == 0:
		fmt.Fprintln(out, "it names its node by the digest of the registry entry alone; the files of its run say which node that is")
	case r.About[0].ValidUntil != "":
		fmt.Fprintf(out, "the trust mark beside it says that the node is valid until %s\n", r.About[0].ValidUntil)
	case strings.HasPrefix(r.StatementText, "a certificate"):
		fmt.Fprintf(out, "it says nothing about later times: %s of the same node and the list status.jwt say until when it is valid (--key)\n", markFile)
	}
}

// stepValidity is the step that compares the times of a token with now.
const stepValidity certificate.Step = "validity"

// verifyToken verifies a trust mark or a status list. ok is false if the text is neither.
func verifyToken(text []byte, name string, in certificate.Input, now time.Time) (r certificate.Verification, ok bool) {
	tokenType := certificate.TokenType(string(text))
	if tokenType != certificate.MarkType && tokenType != registry.ListType {
		return r, false
	}
	compared := "type " + tokenType + " and signature"
	if in.Key == nil {
		r.Checks = []certificate.Check{{Step: certificate.StepSignature, State: certificate.Undecided, Compared: compared, Place: name, Why: "no key was given (--key), and without its signature a token says nothing"}}
		return r, true
	}
	var claims map[string]any
	if err := certificate.ReadToken(strings.TrimSpace(string(text)), tokenType, &claims, in.Key); err != nil {
		r.Checks = []certificate.Check{{Step: certificate.StepSignature, State: certificate.Broken, Compared: compared, Place: name, Why: report.Plain(err.Error())}}
		return r, true
	}
	r.SignedBy = certificate.Fingerprint(in.Key)
	r.Checks = []certificate.Check{{Step: certificate.StepSignature, State: certificate.Holds, Compared: compared}}
	validity := certificate.Check{Step: stepValidity, State: certificate.Holds, Compared: "its times with now"}
	var err error
	if tokenType == certificate.MarkType {
		var m certificate.Mark
		m, err = certificate.ReadMark(strings.TrimSpace(string(text)), in.Key, now)
		r.StatementText = report.Plain(fmt.Sprintf("a trust mark of %s for %s: %s, valid until %s; certificate: %s", m.Issuer, m.Subject, m.Type, m.Expires.Format(time.RFC3339), m.Ref))
		r.About = []certificate.About{{InfoURL: m.Subject, ValidUntil: m.Expires.Format(time.RFC3339)}}
	} else {
		var l registry.List
		l, err = registry.ReadList(string(text), in.Key, now)
		night := "before the first night"
		if l.Night != "" {
			night = "after the night of " + string(l.Night)
		}
		for _, e := range l.Valid {
			a := certificate.About{ID: e.ID, Name: e.Name, InfoURL: e.Subject, Profile: e.Profile, Status: string(e.Status), Tested: string(e.Tested)}
			if e.Ends != 0 {
				a.Ends = time.Unix(e.Ends, 0).UTC().Format(time.RFC3339)
			}
			r.About = append(r.About, a)
		}
		r.StatementText = report.Plain(fmt.Sprintf("a status list of %s: %s %s, valid until %s", l.Issuer, evidence.Count(len(l.Valid), "valid certificate"), night, time.Unix(l.Expires, 0).UTC().Format(time.RFC3339)))
	}
	if err != nil {
		validity.State, validity.Place, validity.Why = certificate.Broken, name, report.Plain(err.Error())
	}
	r.Checks = append(r.Checks, validity)
	return r, true
}
