package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox/configfile"
)

// configFlags say from which file a sandbox is configured.
type configFlags struct {
	file    string
	example bool
}

func (c *configFlags) register(f *pflag.FlagSet) {
	f.StringVar(&c.file, "config", "", "configure nodes and flags by this file, YAML or JSON, - for standard input; flags given beside it win over its own")
	f.BoolVar(&c.example, "example-config", false, "print such a file, and end")
}

// read reads the file and gives its options to the flags that were not given. Without a file it is one that says nothing.
func (c *configFlags) read(ctx context.Context, w world, f *pflag.FlagSet) (configfile.File, error) {
	if c.file == "" {
		return configfile.File{}, nil
	}
	data, err := c.data(w)
	if err != nil {
		return configfile.File{}, usage(fmt.Errorf("--config: %w", err), "rin sandbox --example-config prints such a file")
	}
	file, err := configfile.Read(configfile.Source{
		Data: data, Options: options(f),
		Secret: func(reference string) (string, error) {
			secret, err := readSecret(w, "secret", reference, &stdinOnce{taken: true})
			var missing *target.Problem
			if errors.As(err, &missing) && missing.Cause == nil { // said of the file and not of a flag
				err = errors.New(missing.Message + ": " + missing.Hint)
			}
			return secret.Reveal(), err
		},
		Keys: func(place string) ([]byte, error) { return keysAt(ctx, w, place) },
	})
	var faults configfile.Faults
	if err != nil && !errors.As(err, &faults) {
		return file, internal(err)
	}
	faults = append(faults, assign(f, file)...)
	slices.SortStableFunc(faults, func(a, b configfile.Fault) int { return a.Line - b.Line })
	if len(faults) > 0 {
		return file, usage(&fileError{c.file, faults}, "")
	}
	if given := f.Lookup("nodes"); file.Lists() && given.Changed {
		return file, usage(errors.New("--nodes: the nodes are listed in "+c.file), "leave --nodes away, or take nodes out of the file")
	}
	return file, nil
}

func (c *configFlags) data(w world) ([]byte, error) {
	if c.file == "-" {
		return io.ReadAll(io.LimitReader(w.in, 2<<20))
	}
	return w.readFile(c.file)
}

// options are the flags as keys of a file, without those that are about the command line alone.
func options(f *pflag.FlagSet) []configfile.Option {
	var all []configfile.Option
	f.VisitAll(func(flag *pflag.Flag) {
		if slices.Contains([]string{"config", "example-config", "deviations", "scenarios", "help", "no-color"}, flag.Name) {
			return
		}
		_, list := flag.Value.(pflag.SliceValue)
		all = append(all, configfile.Option{Name: flag.Name, Expected: expected(flag.Value.Type()), List: list})
	})
	return all
}

// expected says what a flag of a type takes.
func expected(kind string) string {
	switch kind {
	case "bool":
		return "true or false"
	case "int":
		return "a number"
	case "uint64":
		return "a number from 0"
	case "duration":
		return "a time, such as 5m"
	case "stringSlice", "stringArray":
		return "a text, or a list of them"
	}
	return "a text"
}

// assign gives the file's options to the flags that were not given on the command line.
func assign(f *pflag.FlagSet, file configfile.File) configfile.Faults {
	var faults configfile.Faults
	for _, given := range file.Given {
		flag := f.Lookup(given.Name)
		if flag.Changed {
			continue
		}
		var err error
		if list, is := flag.Value.(pflag.SliceValue); is {
			err = list.Replace(given.Values)
		} else {
			err = flag.Value.Set(given.Values[0])
		}
		if err != nil {
			faults = append(faults, given.Fault(""))
		}
	}
	return faults
}

// fileError is the faults of a file.
type fileError struct {
	file   string
	faults configfile.Faults
}

// Error implements error.
func (e *fileError) Error() string { return e.file + ": " + e.faults.Error() }

// complaints are the faults with their hints, each with its place as editors and terminals read it.
func (e *fileError) complaints() []complaint {
	var all []complaint
	for _, f := range e.faults {
		place := fmt.Sprintf("%s:%d:%d: ", e.file, f.Line, f.Column)
		if f.Path != "" {
			place += f.Path + ": "
		}
		all = append(all, complaint{place + "expected " + f.Expected + ", got " + f.Got, f.Hint})
	}
	return all
}
