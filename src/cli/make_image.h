/* shoal make iso and shoal make efs: images of discs. */
#ifndef SHOAL_CLI_MAKE_IMAGE_H
#define SHOAL_CLI_MAKE_IMAGE_H

/* argv[0] is "iso" or "efs". Returns an exit code. */
int make_image_command(int argc, char **argv);

#endif
