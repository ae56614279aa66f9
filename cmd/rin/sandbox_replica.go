package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/account"
)

// replicaFlags hold the files that replicas of a sandbox share, so that each accepts the clients and the tokens of the others.
type replicaFlags struct{ keys, secrets string }

func (r *replicaFlags) register(f *pflag.FlagSet) {
	f.StringVar(&r.keys, "key-file", "", "make the signing keys a function of the text in this `file`, a random one of at least 22 characters: replicas with the same file accept each other's tokens (not opaque ones)")
	f.StringVar(&r.secrets, "secret-file", "", "make the secrets of the clients a function of the text in this `file`, likewise: replicas have the same clients")
}

// configure makes keys and secrets of all nodes functions of the files. What a file decides, neither --seed nor --data does.
func (r *replicaFlags) configure(w environment, config *sandbox.NetworkConfig) error {
	keys, err := seedOf(w, "--key-file", r.keys)
	if err != nil {
		return err
	}
	secrets, err := seedOf(w, "--secret-file", r.secrets)
	if err != nil {
		return err
	}
	for i := range config.Nodes {
		config.Nodes[i].KeySeed, config.Nodes[i].SecretSeed = keys, secrets
	}
	return nil
}

// seedOf returns a seed that is a function of a secret text in a file; nil without a file.
func seedOf(w environment, flag, path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	const hint = "make one: openssl rand -hex 32 > FILE && chmod 600 FILE"
	if at, err := os.Stat(path); err == nil && !isPrivate(at) {
		return nil, usage(fmt.Errorf("%s: %s can be read by others (mode %04o)", flag, path, at.Mode().Perm()), "chmod 600 "+path)
	}
	text, err := w.readFile(path)
	if err != nil {
		return nil, usage(fmt.Errorf("%s: %w", flag, err), hint)
	}
	secret := strings.TrimSpace(string(text))
	if account.SecretBits(secret) < account.MinimalSecretBits {
		return nil, usage(errors.New(flag+": the text in "+path+" can be guessed: expected a random one of at least 22 characters"), hint)
	}
	seed := sha256.Sum256([]byte(secret))
	return seed[:], nil
}
