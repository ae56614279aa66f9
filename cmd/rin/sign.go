package main

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
)

func signCommand(w environment) *cobra.Command {
	var keyFile, newKey string
	cmd := &cobra.Command{
		Use:   "sign [DIR]",
		Short: "Sign the files of a run as a claim",
		Long: `Sign recomputes the run in DIR (rin-report) as rin verify does, and signs what
it showed: an in-toto statement with the digest of every file of the run, in a
DSSE envelope, DIR/claim.intoto.json. With the public key, anybody can then
check that no byte was changed, with rin verify or with other tools.

A claim says what the node answered and how that was judged, also of a node that
failed. It is not a certificate: that is made by the operator of a registry, who
runs the suite. A partial or inconclusive run yields no claim.

--new-key makes an Ed25519 key (PKCS#8, PEM, readable by you alone) and beside
it the public key to hand out: operator.key and operator.pub. A key that
openssl genpkey -algorithm ed25519 made can be used, too.`,
		Example: `  rin sign --new-key operator.key
  rin sign rin-report --key operator.key
  rin verify rin-report --key operator.pub`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if newKey != "" {
				if len(args) > 0 || keyFile != "" {
					return usage(errors.New("--new-key makes a key and signs nothing"), "sign with rin sign DIR --key FILE afterwards")
				}
				return makeKey(w, newKey)
			}
			if keyFile == "" {
				return usage(errors.New("expected --key"), "name the file of your key; rin sign --new-key operator.key makes one")
			}
			key, err := readKey(w, keyFile)
			if err != nil {
				return err
			}
			dir := "rin-report"
			if len(args) > 0 {
				dir = args[0]
			}
			return sign(w, dir, key)
		},
	}
	cmd.Flags().StringVar(&keyFile, "key", "", "file of the Ed25519 key to sign with")
	cmd.Flags().StringVar(&newKey, "new-key", "", "make a key in this file, and the public key beside it")
	return cmd
}

// sign recomputes the run in a directory and writes its claim.
func sign(w environment, dir string, key ed25519.PrivateKey) error {
	files, err := readRun(dir)
	if err != nil {
		return err
	}
	result := certificate.Verify(certificate.Input{Files: files, Suite: version()})
	if state := result.State(); state != certificate.Holds {
		c, _ := result.First(state)
		return &exitError{code: verifyExit(state), err: fmt.Errorf("%s is not signed: %s: %s: %s", dir, c.Step, c.Place, c.Why), hint: "sign a run as rin certify left it"}
	}
	run, err := certificate.ReadRun(dir, version())
	if err != nil {
		return internal(fmt.Errorf("read the run again: %w", err))
	}
	if run.Report.Schema == "" {
		return usage(fmt.Errorf("%s has no %s", dir, certificate.ReportFile), "certify with --format json among the formats, or let rin judge write the report")
	}
	claim, err := certificate.NewClaim(run)
	if err != nil {
		return &exitError{code: exitInconclusive, err: fmt.Errorf("%s is not signed: %w", dir, err), hint: "certify the node completely"}
	}
	envelope, err := certificate.Sign(claim.Payload(), key)
	if err != nil {
		return internal(err)
	}
	path := filepath.Join(dir, certificate.ClaimFile)
	if err := replace(path, ownerOnly, func(to io.Writer) error { _, err := to.Write(envelope); return err }); err != nil {
		return usage(fmt.Errorf("write the claim: %w", err), "name a directory that can be written")
	}
	public, _ := key.Public().(ed25519.PublicKey)
	fmt.Fprintf(w.out, "signed: %s\n  %s\n  about %s\n  by the key %s\n", path, report.Plain(claim.Predicate.Words()), evidence.Count(len(claim.Subject), "subject"), certificate.Fingerprint(public))
	return nil
}

// makeKey writes a new key and its public key. It never replaces a file.
func makeKey(w environment, path string) error {
	private, err := certificate.NewKey(w.random)
	if err != nil {
		return internal(err)
	}
	key, err := certificate.ReadKey(private)
	if err != nil {
		return internal(err)
	}
	public, _ := key.Public().(ed25519.PublicKey)
	text, err := certificate.WritePublicKey(public)
	if err != nil {
		return internal(err)
	}
	publicPath := strings.TrimSuffix(path, filepath.Ext(path)) + ".pub"
	if publicPath == path {
		return usage(fmt.Errorf("--new-key: %s would hold the private key under the name of the public one", path), "choose a name such as operator.key")
	}
	for _, f := range []struct {
		path    string
		mode    fs.FileMode
		content []byte
	}{{path, ownerOnly, private}, {publicPath, 0o644, text}} {
		if err := createFile(f.path, f.mode, f.content); err != nil {
			return usage(fmt.Errorf("--new-key: %w", err), "choose a name that is not taken, in a directory that can be written")
		}
	}
	fmt.Fprintf(w.out, "key:        %s (keep it to yourself)\npublic key: %s (hand it out)\n  %s\n", path, publicPath, certificate.Fingerprint(public))
	return nil
}

// createFile writes a file that does not exist yet.
func createFile(path string, mode fs.FileMode, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// readKey reads a private key that its owner alone can read.
func readKey(w environment, path string) (ed25519.PrivateKey, error) {
	const hint = "name a key that rin sign --new-key made"
	if info, err := os.Stat(path); err == nil && !isPrivate(info) {
		return nil, usage(fmt.Errorf("--key: %s can be read by others (mode %04o)", path, info.Mode().Perm()), "chmod 600 "+path)
	}
	text, err := w.readFile(path)
	if err != nil {
		return nil, usage(fmt.Errorf("--key: %w", err), hint)
	}
	key, err := certificate.ReadKey(text)
	if err != nil {
		return nil, usage(fmt.Errorf("--key: %s: %w", path, err), hint)
	}
	return key, nil
}

// readRun reads the files of a run: the evidence first, then the report in its formats.
func readRun(dir string) ([]certificate.File, error) {
	files, err := certificate.ReadFiles(dir, version())
	if err != nil {
		return nil, usage(err, "name the directory that rin certify left its report and evidence in")
	}
	return files, nil
}
