package command

import (
	"os"
	"strconv"
)

// folderOf names an open folder for the program: the one that was looked at, also if its
// name has come to mean another since.
func folderOf(folder *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(folder.Fd())) }
