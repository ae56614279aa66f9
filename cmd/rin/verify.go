package main

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
)

// verifyFlags hold the values of the flags of rin verify.
type verifyFlags struct {
	key, registry    string
	requireSignature bool
	asJSON, explain  bool
	live             liveFlags
}

func verifyCommand(w environment) *cobra.Command {
	var flags verifyFlags
	cmd := &cobra.Command{
		Use:   "verify [DIR|FILE]",
		Short: "Verify the files of a run, step by step",
		Long: `Verify recomputes everything in the files of a run, without a network, and names
the first thing that does not hold, with its place:

  signature   form, payload type, statement and signature of the claim
  files       the digest of each file with the claim
  plan        the labels that target, profile, document and seed call for
  exchanges   lengths, codings, times, URLs and order of the exchanges;
              registry entry, document, roles and differences, derived again
  judgement   each file of the report, made again from the evidence
  entry       with --registry: the node's entry in that registry document has
              the id and the URLs that were tested; without it, verify prints
              these, and nothing says that a registry lists them

DIR is the directory that rin certify left (rin-report); FILE is a run in a ZIP
archive (run.zip of a registry's pages), a claim or a certificate, evidence
alone, or a trust mark or status list (mark.jwt, status.jwt), which says nothing
without --key. A certificate without the files of its run is verified by form
and signature only; verify prints which node it names, and with --key until when
the trust mark beside it is valid. Without a signature or
without --key, verify can show only that the files are consistent, not that they
are authentic: if all of them are forged consistently, only another run reveals
it. With --key the signature must be there.

--live tests the node again and compares the judgements: those of a sample of
the requirements, drawn by the digest of the certificate and a nonce, or with
--live=all those of all requirements. A sample rarely finds a single lie.

Exit codes: 0 everything holds, whatever the report says about the node; 1
something does not hold; 2 usage; 3 it could not be decided, such as evidence
that another version of rin recorded.`,
		Example: `  rin verify rin-report
  rin verify rin-report --key operator.pub
  rin verify rin-report --key operator.pub --json
  rin verify rin-report --key operator.pub --registry ris.json
  rin verify run.zip --key operator.pub
  rin verify certificate.intoto.json --key operator.pub
  rin verify mark.jwt --key operator.pub
  rin verify rin-report --key operator.pub --explain
  rin verify rin-report --live=all --client-secret env:MY_SECRET`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "rin-report"
			if len(args) > 0 {
				path = args[0]
			}
			defer debug.SetGCPercent(debug.SetGCPercent(verifyHeapGrowth))
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(parentMemory))
			in, folder, err := flags.readInput(w, path)
			if err != nil {
				return err
			}
			result, isToken := certificate.Verification{}, false
			if len(in.Files) == 1 && folder == "" {
				result, isToken = verifyToken(in.Files[0].Content, filepath.Base(path), in, w.now())
			}
			if !isToken {
				result = certificate.Verify(in)
			}
			for name, given := range map[string]bool{"--live": flags.live.scope != "", "--registry": flags.registry != ""} {
				if given && (isToken || in.Alone) {
					return usage(errors.New(name+" needs the files of the run"), "name the directory of the run")
				}
			}
			if flags.live.scope != "" && result.State() != certificate.Broken {
				run, err := runOf(in, path, folder)
				if err != nil {
					return err
				}
				c, err := flags.live.check(cmd.Context(), w, in, run)
				if err != nil {
					return err
				}
				result.Checks = append(result.Checks, c)
			}
			switch {
			case result.State() == certificate.Broken:
				result.About = nil // a forged statement can name any node
			case in.Alone && in.Key != nil && len(result.About) == 1:
				result.About[0].ValidUntil = trustMarkExpiry(path, result.About[0], in.Key, w.now())
			}
			if err := flags.write(w, result, in, path, folder); err != nil {
				return fmt.Errorf("write the result: %w", err)
			}
			if code := verifyExit(result.State()); code != exitOK {
				return exitWith(code)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.key, "key", "", "public key that must have signed the claim (PEM)")
	f.StringVar(&flags.registry, "registry", "", "registry document whose entry must be the node that was tested (file)")
	f.BoolVar(&flags.requireSignature, "require-signature", false, "end with exit code 3 unless a signature was checked (--key implies it)")
	f.BoolVar(&flags.asJSON, "json", false, "print the steps as JSON")
	flags.live.register(f)
	f.BoolVar(&flags.explain, "explain", false, "print the commands that check signature and digests without rin")
	return cmd
}

// verifyHeapGrowth is the growth of the heap, in percent of the live heap, after which the garbage collector runs. The collector may run seldom, because the
// process is short-lived. It runs often only beyond [parentMemory], which the evidence of a run does not need.
const verifyHeapGrowth = 400

// verifyExit returns the exit code for a state.
func verifyExit(s certificate.State) int {
	switch s {
	case certificate.Broken:
		return exitNotCertified
	case certificate.Undecided:
		return exitInconclusive
	}
	return exitOK
}

// write prints the result: a summary in one line, then the steps.
func (v verifyFlags) write(w environment, r certificate.Verification, in certificate.Input, path, folder string) error {
	if v.asJSON {
		return writeJSON(w.out, struct {
			Schema        string            `json:"schema"`
			State         certificate.State `json:"state"`
			Authenticated bool              `json:"authenticated"`
			certificate.Verification
		}{"rin.verification/v1", r.State(), r.State() == certificate.Holds && r.SignedBy != "", r})
	}
	var out strings.Builder
	fmt.Fprintln(&out, headlineOf(r, in))
	for _, c := range r.Checks {
		fmt.Fprintf(&out, "  %s %-10s %s\n", symbolOf(c.State), c.Step, c.Compared)
		if c.Why != "" {
			fmt.Fprintf(&out, "    %-10s %s\n", "", c.Place)
			fmt.Fprintf(&out, "    %-10s %s\n", "", c.Why)
		}
	}
	if r.Headline != "" {
		fmt.Fprintf(&out, "the report says: %s\n", report.Plain(r.Headline))
	}
	if r.Tested != nil {
		fmt.Fprintf(&out, "the run tested: %s\n", r.Tested)
	}
	if r.Entry != "" {
		fmt.Fprintf(&out, "the entry is %s\n", r.Entry)
	}
	if r.StatementText != "" {
		fmt.Fprintf(&out, "the statement is %s\n", r.StatementText)
	}
	writeAbout(&out, r, in)
	if v.explain {
		if folder != "" {
			const unpacked = "unpacked-run"
			fmt.Fprintf(&out, "\n# The files, out of the archive, in a folder of their own.\nunzip -n %s -d %s\n", evidence.ShellWord(path), unpacked)
			path = filepath.Join(unpacked, folder)
		}
		explainVerification(&out, in, path, v.key)
	}
	_, err := io.WriteString(w.out, out.String())
	return err
}

// headlineOf says in one line how the verification ended.
func headlineOf(r certificate.Verification, in certificate.Input) string {
	switch state := r.State(); state {
	case certificate.Broken:
		c, _ := r.First(state)
		return fmt.Sprintf("does not hold: %s: %s", c.Step, c.Place)
	case certificate.Undecided:
		c, _ := r.First(state)
		if c.Place == "" {
			return fmt.Sprintf("could not be decided: %s: %s", c.Step, c.Compared)
		}
		return fmt.Sprintf("could not be decided: %s: %s", c.Step, c.Place)
	}
	switch {
	case r.SignedBy != "" && len(in.Files) == 1 && in.Envelope.Content == nil:
		return "authentic and valid: signed by the key " + r.SignedBy
	case in.Alone && r.SignedBy != "":
		return "authentic: signed by the key " + r.SignedBy + "; the files of the run are not here"
	case in.Alone:
		return "well-formed, not authenticated: the signature was not checked (--key), and the files of the run are not here"
	case r.SignedBy != "":
		return "authentic and consistent: signed by the key " + r.SignedBy
	case in.Envelope.Content != nil:
		return "consistent, not authenticated: the signature was not checked (--key)"
	}
	return "consistent, not authenticated: there is no signature"
}

func symbolOf(s certificate.State) string {
	switch s {
	case certificate.Holds:
		return "✓"
	case certificate.Broken:
		return "✗"
	case certificate.Undecided:
		return "?"
	}
	return "·"
}

// explainVerification prints the commands that check the signature and the digests without rin. The envelope is one line in a fixed form, so that sed can read it.
func explainVerification(out io.Writer, in certificate.Input, path, key string) {
	dir, name := path, in.Envelope.Name
	if strings.HasSuffix(path, ".intoto.json") {
		dir = filepath.Dir(path)
	}
	if in.Envelope.Content == nil {
		fmt.Fprintf(out, "\nWithout a claim there is nothing that another program could check (rin sign %s --key FILE).\n", evidence.ShellWord(dir))
		return
	}
	if key == "" {
		key = "operator.pub"
	}
	signed, err := certificate.Open(in.Envelope.Content)
	if err != nil {
		return
	}
	public := publicText(in.Key)
	fmt.Fprintf(out, `
# The signature, by OpenSSL 3: over DSSE's pre-authentication encoding of the payload.
envelope=%[1]s; key=%[2]s; work=$(mktemp -d)
sed 's/.*"payload":"\([^"]*\)".*/\1/' "$envelope" | base64 -d > "$work/payload"
sed 's/.*"sig":"\([^"]*\)".*/\1/' "$envelope" | base64 -d > "$work/sig"
{ printf 'DSSEv1 %[3]d %[4]s %%d ' "$(wc -c < "$work/payload")"; cat "$work/payload"; } > "$work/pae"   # %[5]d bytes
openssl pkeyutl -verify -rawin -pubin -inkey "$key" -in "$work/pae" -sigfile "$work/sig"

# The same by Python's securesystemslib (pip install securesystemslib cryptography).
python3 - "$envelope" "$key" <<'END'
import json, sys
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey
data = json.load(open(sys.argv[1]))
key = SSlibKey.from_crypto(load_pem_public_key(open(sys.argv[2], "rb").read()))
for signature in data["signatures"]:
    signature["keyid"] = key.keyid   # the envelope names no key, the library asks for a name
Envelope.from_dict(data).verify([key], 1)
print("verified by securesystemslib")
END

# The same by cosign 2, for the evidence, whose digest is in the statement. It needs no network, and says that it had none.
cosign verify-blob-attestation --insecure-ignore-tlog --key "$key" --type %[6]s --signature "$envelope" %[7]s

# The digests of the files. The reduced document and the registry entry lie in the evidence.
`, evidence.ShellWord(filepath.Join(dir, name)), evidence.ShellWord(key), len(certificate.PayloadType), certificate.PayloadType, len(signed.PAE()), evidence.ShellWord(signed.PredicateType()), evidence.ShellWord(filepath.Join(dir, certificate.EvidenceFile)))
	fmt.Fprintf(out, "(cd %s && sha256sum -c <<'END'\n", evidence.ShellWord(dir))
	for _, f := range in.Files {
		if digest := signed.DigestOf(f.Name); digest != "" {
			fmt.Fprintf(out, "%s  %s\n", digest, f.Name)
		}
	}
	fmt.Fprintln(out, "END\n)")
	if public != "" {
		fmt.Fprintf(out, "\n# The key:\n%s", public)
	}
}

func publicText(key ed25519.PublicKey) string {
	if key == nil {
		return ""
	}
	text, err := certificate.WritePublicKey(key)
	if err != nil {
		return ""
	}
	return string(text)
}
