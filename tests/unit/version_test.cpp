#include "tokenroof/version.hpp"

#include <gtest/gtest.h>

TEST(Version, LibraryMatchesHeaders) { EXPECT_EQ(tokenroof::linked_version(), tokenroof::version); }
