package command

import (
	"os"
	"strconv"
)

// folderOf names an open folder for the program: the folder that was checked, even if its path has been replaced since.
func folderOf(folder *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(folder.Fd())) }
