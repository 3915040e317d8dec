//go:build unix && !linux

package command

import "os"

// folderOf names an open folder for the program.
func folderOf(folder *os.File) string { return folder.Name() }
