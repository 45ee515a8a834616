/* SPDX-License-Identifier: MIT */
/*
 * pipeline - counts the lines of files in C++: a producer, workers, a total
 *
 * usage: pipeline FILE...
 *
 * One thread sends names, four read the files, and main adds up. A file that cannot be
 * read is told and left out; the status is 1 then.
 */
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <weft.hpp>

namespace {

const int WORKERS = 4;

struct count {
	std::string name;
	long lines = -1;	/* the file cannot be read */
};

long lines_of(const std::string &name)
{
	weft::blocking_region reads_a_disk;
	std::ifstream file(name);
	std::string line;
	long lines = 0;

	if (!file)
		return -1;
	while (std::getline(file, line))
		lines++;
	return file.bad() ? -1 : lines;
}

} /* namespace */

int main(int argc, char **argv)
{
	weft::runtime runtime;
	weft::channel<std::string> names(16);
	weft::channel<count> counts(16);
	weft::latch done(WORKERS);
	std::vector<weft::thread> workers;
	long sum = 0;
	int status = 0;

	weft::thread producer([&] {
		for (int i = 1; i < argc; i++)
			names.send(argv[i]);
		names.close();
	});

	for (int i = 0; i < WORKERS; i++)
		workers.emplace_back([&] {
			for (std::string &name : names)
				counts.send({ name, lines_of(name) });
			done.count_down();
		});

	weft::thread closer([&] {
		done.wait();
		counts.close();
	});

	for (count &c : counts) {
		if (c.lines < 0) {
			std::fprintf(stderr, "pipeline: cannot read %s\n",
				     c.name.c_str());
			status = 1;
			continue;
		}
		std::printf("%8ld %s\n", c.lines, c.name.c_str());
		sum += c.lines;
	}
	std::printf("%8ld lines\n", sum);
	producer.join();
	closer.join();
	for (auto &w : workers)
		w.join();
	return status;
}
