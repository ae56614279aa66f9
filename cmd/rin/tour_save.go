package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rin-network/rin/tui/walk"
)

// saveInto writes files into a folder, which is made if need be. Where one of them is there already, nothing is written.
func saveInto(folder string, files []walk.File) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(folder, f.Name)); !errors.Is(err, fs.ErrNotExist) {
			if err == nil {
				err = fmt.Errorf("%s: %w", filepath.Join(folder, f.Name), fs.ErrExist)
			}
			return "", err
		}
	}
	for _, f := range files {
		mode := os.FileMode(0o600)
		if f.Run {
			mode = 0o700
		}
		file, err := os.OpenFile(filepath.Join(folder, f.Name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return "", err
		}
		if err := errors.Join(f.Write(file), file.Close()); err != nil {
			return "", fmt.Errorf("write %s: %w", f.Name, err)
		}
	}
	return folder, nil
}

// saveTyped is [saveInto] for a folder that was typed on a screen, where no shell knows what ~ is. It says where that is in full.
func saveTyped(w world) func(folder string, files []walk.File) (string, error) {
	return func(folder string, files []walk.File) (string, error) {
		if home, ok := w.getenv("HOME"); ok && home != "" && (folder == "~" || strings.HasPrefix(folder, "~/")) {
			folder = filepath.Join(home, strings.TrimPrefix(folder, "~"))
		}
		full, err := filepath.Abs(folder)
		if err != nil {
			return "", fmt.Errorf("find the folder: %w", err)
		}
		return saveInto(full, files)
	}
}
