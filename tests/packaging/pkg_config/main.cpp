#include <tokenroof/version.hpp>

int main() {
  return tokenroof::linked_version() == tokenroof::version ? 0 : 1;
}
