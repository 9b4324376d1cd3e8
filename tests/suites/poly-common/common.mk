EXECUTABLE ?= $(notdir $(CURDIR)).exe
all:
	nvcc -O3 -DPOLYBENCH_TIME $(wildcard *.cu) -o $(EXECUTABLE)
clean:
	rm -f *~ *.exe
